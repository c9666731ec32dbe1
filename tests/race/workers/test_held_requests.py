import uuid
from datetime import timedelta

import pytest

from runs.contract.instants import parse_instant
from runs.models import Attempt
from runs.queue.cancel import run_cancel
from runs.queue.operating.extend import run_extend
from runs.queue.operating.release import run_release
from runs.queue.wakeup import WATCHER
from tests.db.workers.queue import queued_run
from tests.race.workers.conftest import PATIENCE, Remote, until
from workers.services.credentials import credential_revoke, credential_rotate
from workers.wire.waiting import WAITING

pytestmark = pytest.mark.django_db(transaction=True)


def held(count):
    until(lambda: WATCHER.held_count() == count, f"{count} requests are held")


def test_a_waiting_claim_is_answered_because_a_run_came(remote, background):
    """WP-S6 the answer of a held claim comes with the run, long before the wait is over."""
    worker = remote("lab")
    waiting = background.start(worker.claim, wait=25)
    held(1)
    run = queued_run()
    answer = waiting.result(timeout=PATIENCE)
    assert answer["claim"]["runId"] == run.run_id


def test_a_wait_ends_by_itself_with_nothing(remote):
    answer = remote("lab").claim(wait=0.2)
    assert (answer["claim"], answer["reason"], answer["retryAfterMs"]) == (None, "none_ready", 0)


def test_one_worker_more_than_slots_is_answered_at_once_and_still_gets_a_run(remote, background, slots):
    """WP-S7 all slots taken: `slots_full` at once, and a run when one comes."""
    slots(1)
    first, second = remote("lab"), remote("labor")
    waiting = background.start(first.claim, wait=25)
    held(1)
    answer = second.claim(wait=25)
    assert (answer["claim"], answer["reason"], answer["retryAfterMs"]) == (None, "slots_full", 1000)
    runs = {queued_run().run_id, queued_run().run_id}
    got = {second.claim(wait=25)["claim"]["runId"], waiting.result(timeout=PATIENCE)["claim"]["runId"]}
    assert got == runs


def test_heartbeats_and_claims_share_the_slots(remote, background, slots):
    slots(1)
    busy, idle = remote("lab"), remote("labor")
    queued_run()
    claim = busy.claim()["claim"]
    background.start(busy.beat, claim, 1, wait=14)
    held(1)
    assert idle.claim(wait=25)["reason"] == "slots_full"


def test_a_cancel_answers_the_held_heartbeat(remote, background):
    """WP-S11 a heartbeat that is held when its run is cancelled is answered with the cancel."""
    worker = remote("lab")
    run = queued_run()
    claim = worker.claim()["claim"]
    waiting = background.start(worker.beat, claim, 1, wait=14)
    held(1)
    run_cancel(run=run, code="operator_cancel", actor="operator:test")
    answer = waiting.result(timeout=PATIENCE)
    assert answer["cancel"] == {"requested": True, "reason": "operator_cancel"}
    assert worker.beat(claim, 2, phase="stopped", wait=14)["cancel"]["requested"]


def test_an_extension_answers_the_held_heartbeat(remote, background):
    """A heartbeat that is held when its run is extended is answered with the later instant."""
    worker = remote("lab")
    run = queued_run()
    claim = worker.claim()["claim"]
    before = worker.beat(claim, 1)["agentDeadlineAt"]
    waiting = background.start(worker.beat, claim, 2, wait=14)
    held(1)
    extended = run_extend(run=run, seconds=600, actor="operator:test")
    answer = waiting.result(timeout=PATIENCE)
    assert parse_instant(answer["agentDeadlineAt"]) == extended.agent_deadline_at
    assert parse_instant(answer["agentDeadlineAt"]) == parse_instant(before) + timedelta(seconds=600)


def test_a_release_answers_the_held_heartbeat(remote, background):
    """The worker whose run was taken back is told at once, and stops its agent."""
    worker = remote("lab")
    run = queued_run()
    claim = worker.claim()["claim"]
    waiting = background.start(worker.beat, claim, 1, wait=14)
    held(1)
    run_release(run=run, worker_id=worker.worker_id, actor="operator:test", force=True)
    answer = waiting.result(timeout=PATIENCE)
    assert (answer["status"], answer["error"]["code"]) == (409, "attempt_terminal")


def test_a_newer_heartbeat_ends_the_wait_of_the_older(remote, background):
    worker = remote("lab")
    queued_run()
    claim = worker.claim()["claim"]
    waiting = background.start(worker.beat, claim, 1, wait=14)
    held(1)
    assert worker.beat(claim, 2)["status"] == 200
    answer = waiting.result(timeout=PATIENCE)
    assert (answer["status"], answer["cancel"]["requested"]) == (200, False)


def test_a_repeated_key_takes_the_place_of_its_waiting_request(remote, background):
    worker = remote("lab")
    key = str(uuid.uuid4())
    older = background.start(worker.claim, wait=25, key=key)
    held(1)
    newer = background.start(worker.claim, wait=25, key=key)
    assert older.result(timeout=PATIENCE)["reason"] == "none_ready"
    run = queued_run()
    assert newer.result(timeout=PATIENCE)["claim"]["runId"] == run.run_id


def test_a_shutdown_ends_every_held_request(remote, background):
    worker, busy = remote("lab"), remote("labor")
    queued_run()
    claim = busy.claim()["claim"]
    beat = background.start(busy.beat, claim, 1, wait=14)
    waiting = background.start(worker.claim, wait=25)
    held(2)
    WAITING.stop_all()
    assert waiting.result(timeout=PATIENCE)["reason"] == "stopping"
    assert beat.result(timeout=PATIENCE)["status"] == 200


def test_a_token_that_was_revoked_during_the_wait_leases_nothing(remote, background):
    """WP-H1 a token revoked while its claim is held gets no run that comes afterwards."""
    worker = remote("lab")
    waiting = background.start(worker.claim, wait=25)
    held(1)
    credential_revoke(node="lab", prefix=None, actor="operator:test")
    queued_run()
    answer = waiting.result(timeout=PATIENCE)
    assert (answer["status"], answer["error"]["code"]) == (401, "credential_revoked")
    assert not Attempt.objects.exists()


def test_held_requests_own_no_database_connection(remote, background, database_connections):
    """WP-H8, RU-H12: twelve held claims own no transaction and fewer connections than there are requests."""
    before = database_connections()
    workers = [remote(f"lab-{number}") for number in range(12)]
    answers = [background.start(worker.claim, wait=25) for worker in workers]
    held(12)
    until(lambda: database_connections() <= before + 3, "only the watcher and this thread are connected")
    WAITING.stop_all()
    assert {answer.result(timeout=PATIENCE)["reason"] for answer in answers} == {"stopping"}


def test_the_same_key_twice_at_once_leases_one_run(remote, background):
    """WP-H4 eight simultaneous requests with one key are one attempt and one answer."""
    queued_run()
    queued_run()
    worker = remote("lab")
    key = str(uuid.uuid4())
    answers = [background.start(worker.claim, key=key) for _ in range(8)]
    tokens = {answer.result(timeout=PATIENCE)["claim"]["fencingToken"] for answer in answers}
    assert len(tokens) == 1
    assert Attempt.objects.count() == 1


def test_a_rotation_under_load_refuses_nobody(remote, background, serving):
    """WP-S10 requests with either token go through while the node's token is changed."""
    old = remote("lab")
    before = [background.start(old.claim) for _ in range(6)]
    issued = credential_rotate(node="lab", life=None, actor="operator:test")
    new = Remote(serving, "lab", issued.secret)
    after = [background.start(worker.claim) for worker in (new, old) * 6]
    assert {answer.result(timeout=PATIENCE)["status"] for answer in before + after} == {200}


def test_eight_workers_and_one_run_make_one_lease(remote, background):
    run = queued_run()
    workers = [remote(f"lab-{number}") for number in range(8)]
    answers = [background.start(worker.claim) for worker in workers]
    claims = [answer.result(timeout=PATIENCE)["claim"] for answer in answers]
    assert [claim["runId"] for claim in claims if claim] == [run.run_id]
