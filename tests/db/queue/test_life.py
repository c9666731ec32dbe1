"""The life of a run from its entry to its end."""

import pytest

from runs.contract.errors import Invalid, Refused
from runs.contract.receipt import receipt_verifies
from runs.models import JournalRow, Outbox, Receipt, Result, Run, Spend, Usage
from runs.policy import policy_forget
from runs.queue.cancel import run_cancel
from runs.queue.claim import ClaimedRun, Empty, run_claim
from runs.queue.claim_answer import claim_answer
from runs.queue.enqueue import run_enqueue
from runs.queue.flow_steps import FlowStep, run_outcome
from tests.queue_driver import (
    beat,
    claim,
    claim_request,
    completed_body,
    enqueue,
    failed_body,
    publish,
    refused_body,
    step_spec,
    worker,
)


def edges(run):
    return list(JournalRow.objects.filter(run=run, kind="transition").order_by("seq").values_list("edge", flat=True))


def test_a_run_is_claimed_started_verified_and_completed_with_everything_in_one_transaction():
    """RU-H8: one result, one receipt, one announcement."""
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1)
    beat(attempt, "verifying", 2)
    answer = publish(attempt, completed_body(attempt))

    run.refresh_from_db()
    assert (run.state, run.reason_code, answer["runState"]) == ("completed", "ok", "completed")
    assert edges(run) == ["enqueue", "claim", "start", "verify", "complete"]
    receipt = Receipt.objects.get(run=run)
    assert receipt_verifies(receipt.document)
    last = JournalRow.objects.filter(run=run).latest("seq")
    assert last.detail == {"receiptHash": receipt.receipt_hash}
    assert receipt.journal_head == last.prev_hash
    assert Result.objects.get(run=run).document["artifact"] == {"status": "addressed"}
    assert Outbox.objects.get(topic="run.completed").key == f"run:{run.run_id}:1"
    assert not Outbox.objects.filter(topic="run.ended").exists()


def test_a_result_walks_the_edges_whose_heartbeats_were_lost():
    run = enqueue()
    attempt = claim()
    publish(attempt, completed_body(attempt))
    assert edges(run) == ["enqueue", "claim", "start", "verify", "complete"]


def test_the_same_result_key_gets_the_same_answer_and_another_body_a_conflict():
    """WP-H4, WP-S3"""
    enqueue()
    attempt = claim()
    body = completed_body(attempt)
    first = publish(attempt, body, key="one-key")
    assert publish(attempt, body, key="one-key") == first
    with pytest.raises(Refused) as conflict:
        publish(attempt, {**body, "reasonCode": "result_defaulted"}, key="one-key")
    assert conflict.value.code == "idempotency_conflict"
    assert Result.objects.count() == 1


def test_a_failed_run_that_may_not_be_tried_again_rests_and_is_announced():
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1)
    answer = publish(attempt, failed_body(attempt))
    run.refresh_from_db()
    assert (run.state, run.cause, answer["runState"]) == ("failed", "agent_error", "failed")
    assert Outbox.objects.get(topic="run.ended").payload["flow"]["step"] == "reviewing"
    assert run_outcome(run).at_rest
    assert not Receipt.objects.exists()


def test_a_drained_attempt_is_tried_again_and_its_answer_says_queued_for_ever():
    run = enqueue()
    attempt = claim()
    body = failed_body(attempt, "drain_timeout")
    answer = publish(attempt, body, key="drain")
    assert answer["runState"] == "queued"
    run.refresh_from_db()
    assert (run.state, run.hold, run.drain_failures, run.environment_failures) == ("queued", "backoff", 1, 0)
    run_cancel(run=run, code="operator_cancel", actor="operator:ann")
    assert publish(attempt, body, key="drain") == answer


def test_a_refusal_rests_with_result_and_receipt_and_no_completion():
    run = enqueue()
    attempt = claim()
    publish(attempt, refused_body(attempt))
    run.refresh_from_db()
    assert (run.state, run.reason_code) == ("refused", "needs_human")
    assert Receipt.objects.filter(run=run).exists()
    assert [row.topic for row in Outbox.objects.all()] == ["run.ended"]
    assert edges(run) == ["enqueue", "claim", "refuse"]


def test_a_lenient_run_completes_with_a_defaulted_result_and_a_strict_one_does_not():
    """RU-S13"""
    lenient = enqueue(resultPolicy="lenient")
    attempt = claim()
    publish(attempt, completed_body(attempt, {}, reason="result_defaulted"))
    lenient.refresh_from_db()
    assert run_outcome(lenient).defaulted
    assert run_outcome(lenient).artifact == {}
    strict = enqueue(resultPolicy="strict")
    attempt = claim()
    with pytest.raises(Invalid) as violation:
        publish(attempt, completed_body(attempt, {}, reason="result_defaulted"))
    assert violation.value.details["check"] == "missing_result"
    strict.refresh_from_db()
    assert strict.state == "leased"


def test_a_submission_that_fails_a_check_changes_nothing():
    """WP-H7"""
    run = enqueue()
    attempt = claim()
    before = JournalRow.objects.count()
    body = completed_body(attempt)
    body["result"]["artifactHash"] = "sha256:" + "0" * 64
    with pytest.raises(Invalid) as violation:
        publish(attempt, body)
    assert (violation.value.code, violation.value.details["check"]) == ("contract_violation", "result_schema")
    with pytest.raises(Invalid) as mismatch:
        publish(attempt, completed_body(attempt, specHash="sha256:" + "1" * 64))
    assert mismatch.value.code == "definition_mismatch"
    run.refresh_from_db()
    attempt.refresh_from_db()
    assert run.state == "leased"
    assert not attempt.is_finished
    assert JournalRow.objects.count() == before
    assert not Usage.objects.exists()


def test_a_cancel_ends_the_attempt_and_its_heartbeats_say_so():
    """WP-S11"""
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1)
    run_cancel(run=run, code="flow_cancelled", actor="flow:convergence:pull-request:8412077:12")
    lease = beat(attempt, "running", 2)
    assert (lease.cancel_requested, lease.cancel_reason) == (True, "flow_cancelled")
    beat(attempt, "stopped", 3, usage={"inputTokens": 7, "outputTokens": 3, "costUsd": 0.5})
    assert Usage.objects.get().cost_micro_usd == 500_000
    attempt.refresh_from_db()
    assert (attempt.phase, attempt.outcome) == ("stopped", "cancelled")
    with pytest.raises(Refused) as refused:
        publish(attempt, completed_body(attempt))
    assert refused.value.code == "attempt_terminal"
    assert not Result.objects.exists()
    with pytest.raises(Refused) as resting:
        run_cancel(run=run, code="operator_cancel", actor="operator:ann")
    assert resting.value.code == "run_at_rest"


def test_usage_only_grows_and_is_summed_by_day_subject_and_run():
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1, usage={"inputTokens": 50, "costUsd": 0.2})
    beat(attempt, "running", 2, usage={"inputTokens": 40, "costUsd": 0.1})
    with pytest.raises(Invalid):
        beat(attempt, "running", 3, usage={"inputTokens": -1})
    publish(attempt, completed_body(attempt))
    usage = Usage.objects.get()
    assert (usage.input_tokens, usage.output_tokens, usage.cost_micro_usd) == (100, 10, 250_000)
    for scope, key in (("day", ""), ("subject", run.subject), ("run", run.run_id)):
        assert Spend.objects.get(scope=scope, key=key).cost_micro_usd == 250_000
        assert Spend.objects.get(scope=scope, key=key).tokens == 110


def test_an_unreported_cost_is_estimated_from_the_prices_of_the_policy_or_unknown(settings):
    policy_file = settings.FACTORY.home / "policy.yaml"
    policy_file.write_text("prices: {opus: {input: 5, output: 25}}")
    policy_forget()
    try:
        costs = []
        for model in ("opus", "nobody-knows"):
            enqueue()
            attempt = claim()
            body = completed_body(attempt)
            usage = {"inputTokens": 1000, "outputTokens": 100, "model": model}
            publish(attempt, {**body, "execution": {**body["execution"], "usage": usage}})
            row = Usage.objects.get(attempt=attempt)
            costs.append((row.cost_micro_usd, row.cost_source))
        assert costs == [(7500, "estimated"), (None, "unknown")]
    finally:
        policy_file.unlink()
        policy_forget()


def test_one_idempotency_key_is_one_run_for_ever():
    """RU-H9"""
    spec = step_spec(entry=7001)
    first = run_enqueue(spec=spec, actor="flow:x")
    again = run_enqueue(spec=spec, actor="flow:x")
    assert (first.created, again.created, again.run) == (True, False, first.run)
    with pytest.raises(Refused) as conflict:
        run_enqueue(spec={**spec, "priority": 9}, actor="flow:x")
    assert conflict.value.code == "idempotency_conflict"
    assert Run.objects.count() == 1
    flow = FlowStep("convergence", "pull-request:8412077:12", 1, "reviewing", 7001)
    assert first.run.idempotency_key == flow.key


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"defHash": "sha256:" + "0" * 64}, "unknown_definition"),
        ({"input": {}, "inputHash": "sha256:" + "0" * 64}, "invalid_input"),
        ({"verifySeconds": 5400}, "invalid_spec"),
        ({"timeoutSeconds": 5}, "invalid_spec"),
        ({"weightClass": "featherlight"}, "invalid_spec"),
        ({"promptAppend": "x" * 600_000}, "too_large"),
        ({"origin": {"kind": "event"}}, "proposal_required"),
        ({"origin": {"kind": "operator"}}, "proposal_required"),
        (
            {"workspace": {"kind": "artifacts", "inputs": [{"sha256": "sha256:" + "5" * 64, "as": "a"}]}},
            "artifact_missing",
        ),
    ],
)
def test_what_may_not_be_stored_is_refused_before_the_first_write(changes, code):
    with pytest.raises((Invalid, Refused)) as refused:
        run_enqueue(spec=step_spec(**changes), actor="flow:x")
    assert refused.value.code == code
    assert not Run.objects.exists()
    assert not JournalRow.objects.exists()


def test_a_repeated_claim_key_gives_the_same_attempt_and_the_same_answer():
    """WP-H4"""
    enqueue()
    request = claim_request(worker(1), key="claim-key")
    first = run_claim(request)
    assert isinstance(first, ClaimedRun)
    answer = claim_answer(first.attempt)
    beat(first.attempt, "running", 1)
    again = run_claim(request)
    assert isinstance(again, ClaimedRun)
    assert again.repeated
    assert claim_answer(again.attempt) == answer
    assert answer["spec"]["runId"] == answer["runId"]
    assert [document["name"] for document in answer["documents"]] == ["input", "output"]
    assert "AGENT_RESULT_FILE" in answer["prompt"]["text"]


def test_a_worker_holds_one_run_at_a_time():
    """RU-H2"""
    enqueue()
    enqueue()
    attempt = claim(worker(1))
    with pytest.raises(Refused) as busy:
        run_claim(claim_request(worker(1)))
    assert (busy.value.code, busy.value.details["runId"]) == ("worker_busy", attempt.run.run_id)


def test_a_worker_that_does_not_match_gets_nothing():
    enqueue(placement={"gpu": "yes"})
    assert run_claim(claim_request()) == Empty("none_ready")


def test_the_second_run_of_an_exclusive_key_waits_and_is_ready_when_the_first_ends():
    """RU-S20"""
    first = enqueue(exclusiveKey="branch:1:feat/total")
    second = enqueue(exclusiveKey="branch:1:feat/total")
    attempt = claim()
    assert attempt.run == first
    assert run_claim(claim_request()) == Empty("none_ready")
    second.refresh_from_db()
    assert second.hold == "exclusive"
    publish(attempt, completed_body(attempt))
    second.refresh_from_db()
    assert second.hold == ""
    assert claim().run == second


def test_priority_is_worth_ten_minutes_of_waiting_a_step():
    first = enqueue()
    urgent = enqueue(priority=6)
    assert claim().run == urgent
    assert claim().run == first
