"""What the server checks of a submission, on what it received, before the transaction that accepts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import bare_hex, canonical_bytes, document_hash
from runs.contract.codes import COMPLETIONS, REFUSALS, SERVER_FAILURES, TerminalState
from runs.contract.errors import Invalid
from runs.contract.instants import parse_instant
from runs.contract.results import ContractViolation, check_evidence, check_memos, decision_is_valid
from runs.contract.schemas import schema_violation
from runs.contract.wire import LARGEST_DETAIL
from runs.definitions.stored import definition_document, schema_document
from runs.models import ArtifactGrant
from runs.queue.attempts.semantics import semantic_check

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from runs.queue.attempts.fence import Presented
    from runs.queue.attempts.known import KnownRun

EMPTY_ARTIFACT: Mapping[str, Any] = {}
SEMANTIC = "semantic"  # among the checks that were applied


@dataclass(frozen=True, slots=True)
class Submission:
    """A result request that passed every check that needs no lock. ``document`` is what will be stored, or None."""

    terminal_state: TerminalState
    reason_code: str
    document: Mapping[str, Any] | None
    detail: Mapping[str, Any]
    retry_at: datetime | None
    artifact_refs: tuple[Mapping[str, Any], ...]
    execution: Mapping[str, Any]
    input_hash: str


def submission_checked(run: KnownRun, presented: Presented, body: Mapping[str, Any]) -> Submission:
    """The submission, if it may be accepted; the body already has the form of the wire's schema.

    Raises ContractViolation and Invalid (`definition_mismatch`, `artifact_not_granted`, `malformed`) and writes
    nothing, so the lease stays as it is.
    """
    _check_hashes(run, body)
    state = TerminalState(body["terminalState"])
    refs = tuple(body["artifactRefs"])
    _check_grants(presented, refs)
    accepted = state in {TerminalState.COMPLETED, TerminalState.REFUSED}
    document = _document(run, presented, state, body) if accepted else None
    if not accepted:
        _check_failure(state, body)
    return Submission(
        terminal_state=state,
        reason_code=body["reasonCode"],
        document=document,
        detail=body.get("detail") or {},
        retry_at=parse_instant(body["retryAt"]) if body.get("retryAt") else None,
        artifact_refs=refs,
        execution=body["execution"],
        input_hash=run.spec["inputHash"],
    )


def _check_hashes(run: KnownRun, body: Mapping[str, Any]) -> None:
    for name, stored in (("specHash", run.spec_hash), ("defHash", run.def_hash)):
        if body.get(name) not in {None, stored}:
            raise Invalid(
                "definition_mismatch",
                f"{name} is not the stored one",
                details={"check": "definition_mismatch", "field": name, "stored": stored, "sent": body[name]},
            )


def _check_grants(presented: Presented, refs: tuple[Mapping[str, Any], ...]) -> None:
    """Each named object was uploaded by this attempt, and has the size that is claimed."""
    if not refs:
        return
    granted = dict(
        ArtifactGrant.objects.filter(
            attempt__run__run_id=presented.run_id, attempt__number=presented.attempt
        ).values_list("artifact_id", "artifact__size_bytes")
    )
    for ref in refs:
        if granted.get(bare_hex(ref["sha256"])) != ref["sizeBytes"]:
            raise Invalid(
                "artifact_not_granted",
                f"this attempt uploaded no object {ref['sha256']} of {ref['sizeBytes']} bytes",
                details={"check": "artifact_not_granted", "sha256": ref["sha256"]},
            )


def _check_failure(state: TerminalState, body: Mapping[str, Any]) -> None:
    code = body["reasonCode"]
    if code in SERVER_FAILURES or (state is TerminalState.TIMED_OUT) != (code == "timeout"):
        raise Invalid("malformed", f"a worker does not report {state} as {code}", details={"path": "$.reasonCode"})
    if len(canonical_bytes(body.get("detail") or {})) > LARGEST_DETAIL:
        raise Invalid("malformed", f"detail is larger than {LARGEST_DETAIL} bytes", details={"path": "$.detail"})


def _document(run: KnownRun, presented: Presented, state: TerminalState, body: Mapping[str, Any]) -> dict[str, Any]:
    """The result document with its hashes recomputed; a malformed decision is dropped and noted."""
    sent = body["result"]
    expected = {
        "runId": run.run_id,
        "attempt": presented.attempt,
        "terminalState": str(state),
        "reasonCode": body["reasonCode"],
        "outputContract": run.output_contract,
    }
    for name, value in expected.items():
        if sent.get(name) != value:
            raise ContractViolation("result_schema", f"result.{name} is not {value}", field=name)
    if state is TerminalState.COMPLETED:
        _check_completed(run, sent)
    elif sent["reasonCode"] not in REFUSALS:
        raise ContractViolation("unknown_refusal_reason", f"{sent['reasonCode']} is no refusal")
    document = dict(sent)
    decision = sent.get("decision")
    if decision is not None and not decision_is_valid(decision):
        document["decision"] = None
        document["notes"] = ["decision_dropped"]
    check_evidence(sent.get("evidence"))
    _check_hash_of(sent, "artifact")
    _check_hash_of(sent, "evidence")
    if any(ref not in body["artifactRefs"] for ref in sent["artifacts"]):
        raise ContractViolation("result_schema", "result.artifacts names more than artifactRefs", field="artifacts")
    check_memos(sent.get("learnings") or (), definition_document(run.def_hash))
    checks = [each for each in sent["verification"]["checks"] if each != SEMANTIC]  # the server's own word
    if state is TerminalState.COMPLETED and sent["reasonCode"] == "ok" and _claims_checked(run, sent):
        checks.append(SEMANTIC)
    document["verification"] = {**sent["verification"], "checks": checks}
    return document


def _claims_checked(run: KnownRun, sent: Mapping[str, Any]) -> bool:
    """Whether the output contract has a semantic check, which then passed."""
    check = semantic_check(run.output_contract)
    if check is None:
        return False
    mismatch = check(run.spec["input"], sent["artifact"], sent.get("evidence") or {})
    if mismatch is not None:
        details = {"field": mismatch.field, "claimed": mismatch.claimed, "observed": mismatch.observed}
        raise ContractViolation("evidence_mismatch", mismatch.sentence, **details)
    return True


def _check_completed(run: KnownRun, sent: Mapping[str, Any]) -> None:
    if sent["reasonCode"] not in COMPLETIONS:
        raise ContractViolation("result_schema", f"{sent['reasonCode']} is no way to complete", field="reasonCode")
    if sent.get("artifact") is None or sent.get("decision") is not None:
        raise ContractViolation("missing_artifact", "a completed result carries an artifact and no decision")
    if sent["reasonCode"] == "result_defaulted":
        if run.result_policy != "lenient" or sent["artifact"] != EMPTY_ARTIFACT:
            raise ContractViolation("missing_result", "only a lenient run completes without a usable result")
        return
    schema = schema_document(definition_document(run.def_hash)["output"])
    violation = schema_violation(schema, sent["artifact"])
    if violation is not None:
        raise ContractViolation("output_schema", violation.message, path=violation.path)


def _check_hash_of(sent: Mapping[str, Any], name: str) -> None:
    value, claimed = sent.get(name), sent.get(f"{name}Hash")
    if claimed != (None if value is None else document_hash(value)):
        raise ContractViolation("result_schema", f"{name}Hash is not the hash of the {name}", field=f"{name}Hash")
