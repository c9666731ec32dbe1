"""Bodies, specs, codes and offers of the worker protocol."""

import pytest

from runs.contract import codes, placement, spec, wire
from runs.contract.codes import Cause, Reaction
from runs.contract.errors import Invalid

OFFER = {
    "labels": {"arch": "arm64", "node": "lab"},
    "adapters": ["claude", "command"],
    "anyAdapter": "claude",
    "adapterOverride": None,
    "workspaceKinds": ["ephemeral", "worktree"],
    "repositories": ["acme/shop"],
}
CLAIM = {
    "protocolVersion": 1, "workerVersion": "1.4.0+9f3c1a2b", "specVersions": ["factory.run-spec/v1"], **OFFER,
    "waitSeconds": 25,
}  # fmt: skip
BEAT = {"attempt": 2, "fencingToken": "1842", "sequence": 7, "phase": "running", "waitSeconds": 14}
FAILED = {
    "attempt": 2, "fencingToken": "1842", "terminalState": "failed", "reasonCode": "agent_exit",
    "detail": {"exitCode": 1}, "retryAt": None, "artifactRefs": [],
    "execution": {"adapter": "claude", "exitCode": 1, "signal": None, "timedOut": False, "late": False,
                  "durationMs": 1, "usage": {"inputTokens": 1, "costUsd": 0.6}},
}  # fmt: skip
SPEC = {
    "schemaVersion": "factory.run-spec/v1", "runId": "run_01J9X2M7Q4T6V8B0C1D2E3F4G5",
    "createdAt": "2026-08-30T12:20:00.000000Z", "agent": "fixer@1", "defHash": "sha256:" + "7" * 64,
    "promptBinding": "latest", "input": {}, "inputHash": "sha256:" + "0" * 64, "subject": "pull-request:1:2",
    "origin": {"kind": "flow"}, "correlationId": "c", "adapter": "any", "timeoutSeconds": 600,
    "workspace": {"kind": "worktree", "repository": "acme/shop", "branch": "fix"},
    "outputContract": "factory.fix/v1", "idempotencyKey": "flow:x",
}  # fmt: skip


@pytest.mark.parametrize(("name", "body"), [("claim", CLAIM), ("heartbeat", BEAT), ("result", FAILED)])
def test_bodies_of_the_protocol_pass_also_with_unknown_fields(name, body):
    wire.check_request(name, {**body, "fromTheFuture": 1})


@pytest.mark.parametrize(
    ("name", "body", "path"),
    [
        ("claim", {**CLAIM, "labels": {"a": 1}}, "$.labels.a"),
        ("claim", {key: value for key, value in CLAIM.items() if key != "adapters"}, "$"),
        ("heartbeat", {**BEAT, "fencingToken": 1842}, "$.fencingToken"),
        ("heartbeat", {**BEAT, "phase": "asleep"}, "$.phase"),
        ("heartbeat", {**BEAT, "usage": {"inputTokens": -1}}, "$.usage.inputTokens"),
        ("result", {**FAILED, "terminalState": "completed"}, "$"),
        ("result", {**FAILED, "terminalState": "cancelled"}, "$.terminalState"),
        ("bye", {"reason": "bored"}, "$.reason"),
    ],
)
def test_a_mistyped_known_field_is_malformed_and_named(name, body, path):
    with pytest.raises(Invalid) as refusal:
        wire.check_request(name, body)
    assert refusal.value.code == "malformed"
    assert refusal.value.details["path"].startswith(path)


def test_a_spec_passes_and_its_defaults_are_read():
    spec.check_spec(SPEC)
    assert spec.spec_value(SPEC, "resultPolicy") == "strict"
    assert spec.spec_value({**SPEC, "artifactLimits": {"count": 1}}, "artifactLimits")["bytesEach"] == 64 * 1024**2


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"timeoutSeconds": 9}, "$.timeoutSeconds"),
        ({"verifySeconds": 600}, "$.verifySeconds"),
        ({"verify": [{"name": "t", "argv": ["true"], "timeoutSeconds": 5}]}, "$.verify"),
        ({"workspace": {"kind": "worktree", "repository": "acme/shop"}}, "$.workspace"),
        ({"workspace": {"kind": "worktree", "repository": "acme/shop", "branch": "--upload-pack=x"}}, "$.workspace"),
        ({"promptHash": None}, "$.promptHash"),
    ],
)
def test_a_spec_out_of_range_is_refused_with_its_path(change, path):
    with pytest.raises(Invalid) as refusal:
        spec.check_spec({**SPEC, **change})
    assert refusal.value.code == "invalid_spec"
    assert refusal.value.details["path"].startswith(path)


def test_unknown_codes_go_by_the_class_of_their_status():
    assert codes.reaction("fenced", 409) is Reaction.ABANDON
    assert codes.reaction("new_limit", 422) is Reaction.REPORT_VIOLATION
    assert codes.reaction("new_outage", 502) is Reaction.RETRY
    assert codes.failure_rule("never_heard_of").cause is Cause.FATAL
    assert codes.failure_rule("usage_limited").limit == 24
    assert not codes.AGENT_REFUSALS & codes.WORKER_REFUSALS


REQUIREMENT = placement.Requirement(adapter="claude", workspace_kind="worktree", repository="Acme/Shop")


@pytest.mark.parametrize(
    ("offer", "lacks"),
    [
        ({}, None),
        ({"adapters": ["command"]}, "adapter claude"),
        ({"adapters": [], "adapterOverride": "fake"}, None),
        ({"workspaceKinds": ["ephemeral"]}, "workspace kind worktree"),
        ({"repositories": ["other/*"]}, "repository Acme/Shop"),
        ({"repositories": ["acme/*"]}, None),
        ({"repositories": ["*"]}, None),
    ],
)
def test_an_offer_matches_or_says_what_it_lacks(offer, lacks):
    made = placement.offer_of({**OFFER, **offer})
    assert next(placement.missing(made, REQUIREMENT), None) == lacks
    assert placement.matches(made, REQUIREMENT) is (lacks is None)


def test_any_needs_an_adapter_for_any_and_labels_are_equal_strings():
    offer = placement.offer_of(OFFER)
    anything = placement.Requirement(adapter="any", workspace_kind="ephemeral", labels={"arch": "arm64"})
    assert placement.matches(offer, anything)
    assert placement.resolve_adapter(offer, "any") == "claude"
    assert [*placement.missing(placement.offer_of({**OFFER, "anyAdapter": None}), anything)] == ["an adapter for any"]
    other = placement.Requirement(adapter="any", workspace_kind="ephemeral", labels={"arch": "x86"})
    assert [*placement.missing(offer, other)] == ["label arch=x86"]
    assert anything.class_hash() != other.class_hash()
