"""Workers that compete for the same runs."""

from functools import partial

from runs.contract.errors import Refused
from runs.models import Attempt, JournalRow, Run
from runs.queue.claim import ClaimedRun, run_claim
from tests.queue_driver import claim_request, completed_body, enqueue, publish, worker
from tests.threads import together


def claimed(outcomes):
    return [outcome.attempt for outcome in outcomes if isinstance(outcome, ClaimedRun)]


def test_eight_workers_and_one_run_make_one_lease():
    """RU-S1"""
    run = enqueue()
    outcomes = together([partial(run_claim, claim_request(worker(number))) for number in range(8)])
    assert [attempt.run_id for attempt in claimed(outcomes)] == [run.pk]
    assert Attempt.objects.count() == 1


def test_eight_workers_lease_each_of_forty_runs_once_with_rising_tokens():
    """RU-S1, RU-H3"""
    runs = [enqueue() for _ in range(40)]

    def serve(number):
        served = []
        while isinstance(outcome := run_claim(claim_request(worker(number))), ClaimedRun):
            served.append((outcome.attempt.run_id, outcome.attempt.pk))
            publish(outcome.attempt, completed_body(outcome.attempt))
        return served

    served = [pair for share in together([partial(serve, number) for number in range(8)]) for pair in share]
    # A claim that lost its candidate to another may answer empty while runs are left; nothing is lost by that.
    while isinstance(outcome := run_claim(claim_request(worker(9))), ClaimedRun):
        served.append((outcome.attempt.run_id, outcome.attempt.pk))
        publish(outcome.attempt, completed_body(outcome.attempt))
    assert sorted(pk for pk, _ in served) == sorted(run.pk for run in runs)
    assert len({token for _, token in served}) == 40
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    assert JournalRow.objects.filter(edge="claim").count() == 40


def test_one_worker_that_claims_four_times_at_once_holds_one_run():
    """RU-H2"""
    for _ in range(4):
        enqueue()

    def attempt_claim():
        try:
            return run_claim(claim_request(worker(1)))
        except Refused as refused:
            return refused.code

    outcomes = together([attempt_claim] * 4)
    assert len(claimed(outcomes)) == 1
    assert outcomes.count("worker_busy") == 3
    assert Attempt.objects.count() == 1


def test_the_same_claim_key_four_times_at_once_is_one_lease():
    """WP-H4"""
    for _ in range(4):
        enqueue()
    request = claim_request(worker(1), key="one")
    attempts = claimed(together([partial(run_claim, request)] * 4))
    assert [attempt.pk for attempt in attempts] == [Attempt.objects.get().pk] * 4


def test_runs_of_one_exclusive_key_are_never_held_together():
    """RU-H2"""
    for _ in range(6):
        enqueue(exclusiveKey="branch:1:main")
    outcomes = together([partial(run_claim, claim_request(worker(number))) for number in range(6)])
    assert len(claimed(outcomes)) == 1
    assert Attempt.objects.filter(finished_at=None).count() == 1
