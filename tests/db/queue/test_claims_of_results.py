"""What a result claims is recomputed before it counts."""

import pytest

from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid
from runs.models import Result, Run
from tests.queue_driver import beat, claim, completed_body, enqueue, failed_body, publish

HEAD = "3f2a" * 10


def claiming(attempt, artifact, *, learnings=None):
    evidence = {"workspace": {"headSha": HEAD, "remoteSha": HEAD, "pushed": True, "commits": 1}}
    body = completed_body(attempt, artifact)
    body["result"] |= {"evidence": evidence, "evidenceHash": document_hash(evidence)}
    if learnings is not None:
        body["result"]["learnings"] = learnings
    return body


def test_a_claim_that_does_not_hold_is_refused_and_then_reported_as_a_broken_contract():
    run = enqueue(maxAttempts=1)
    attempt = claim()
    beat(attempt, "running", 1)
    with pytest.raises(Invalid) as told:
        publish(attempt, claiming(attempt, {"status": "addressed", "commits": 4}))
    assert (told.value.code, told.value.details) == (
        "contract_violation",
        {"check": "evidence_mismatch", "field": "commits", "claimed": 4, "observed": 1},
    )
    assert not Result.objects.exists()
    publish(attempt, failed_body(attempt, "contract_violation", detail=told.value.details))
    run.refresh_from_db()
    assert (run.state, run.cause, run.reason_code) == ("failed", "agent_error", "contract_violation")


def test_a_claim_that_holds_is_named_among_the_checks_whoever_wrote_it_there_before():
    enqueue()
    attempt = claim()
    body = claiming(attempt, {"status": "addressed", "commits": 1})
    body["result"]["verification"] = {"status": "passed", "checks": ["semantic", "form"]}
    publish(attempt, body)
    assert Result.objects.get().document["verification"]["checks"] == ["form", "semantic"]


def test_a_defaulted_result_claims_nothing():
    enqueue(resultPolicy="lenient")
    attempt = claim()
    publish(attempt, completed_body(attempt, {}, reason="result_defaulted"))
    assert "semantic" not in Result.objects.get().document["verification"]["checks"]


def test_memos_that_the_definition_does_not_declare_are_refused():
    enqueue()
    attempt = claim()
    with pytest.raises(Invalid) as told:
        publish(attempt, claiming(attempt, {"status": "addressed"}, learnings=[{"kind": "repo_note", "text": "x"}]))
    assert told.value.details == {"check": "memo_not_allowed", "path": "$.learnings[0]"}
    assert Run.objects.get().state == "leased"
    publish(attempt, claiming(attempt, {"status": "addressed"}, learnings=[]))
