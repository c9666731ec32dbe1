import json
import uuid

import pytest

from runs.contract.wire import check_answer
from runs.models import Attempt, JournalRow
from runs.queue.cancel import run_cancel
from runs.queue.limits.pauses import pause_lift, pause_set
from tests.db.workers.queue import queued_run
from tests.db.workers.wire import code, worker_on
from tests.site_policy import edited_policy
from workers.models import CredentialToken
from workers.models import Worker as Row
from workers.wire.waiting import WAITING

pytestmark = pytest.mark.django_db


def without_time(response):
    body = json.loads(response.content)
    body.pop("serverTime")
    return body


def test_a_ready_run_is_leased_with_all_that_its_worker_needs(worker):
    run = queued_run()
    response = worker.claim()
    assert response.status_code == 200
    answer = response.json()
    check_answer("claim", answer)
    claim = answer["claim"]
    assert (claim["runId"], claim["attempt"], claim["adapter"]) == (run.run_id, 1, "command")
    assert claim["specHash"] == run.spec_hash
    assert claim["prompt"]["text"] == "Say what you found.\n"
    assert [document["name"] for document in claim["documents"]] == ["input", "output"]
    attempt = Attempt.objects.get()
    assert (attempt.worker_id, attempt.node, attempt.token) == (worker.worker_id, "lab", claim["fencingToken"])


def test_an_empty_queue_says_when_to_ask_again(worker):
    answer = worker.claim().json()
    check_answer("claim", answer)
    assert (answer["claim"], answer["reason"], answer["retryAfterMs"]) == (None, "none_ready", 500)


def test_a_claim_is_a_sign_of_life_and_proves_the_token(worker):
    worker.claim()
    row = Row.objects.get()
    assert row.worker_id == worker.worker_id
    assert row.offer["labels"]["node"] == "lab"
    assert CredentialToken.objects.get().proven_at is not None


def test_a_run_that_asks_for_the_node_goes_to_its_node_alone(worker):
    queued_run(placement={"node": "labor"})
    assert worker.claim().json()["claim"] is None
    assert worker_on("labor").claim().json()["claim"] is not None


def test_a_lost_answer_is_given_again_also_when_the_run_has_moved_on(worker):
    """WP-S2, WP-H5 the same key is answered from the rows of the first request, with the instants of the first."""
    run = queued_run()
    key = str(uuid.uuid4())
    first = without_time(worker.claim(key=key))
    assert without_time(worker.claim(key=key, waitSeconds=3)) == first
    run_cancel(run=run, code="operator_cancel", actor="operator:test")
    assert without_time(worker.claim(key=key)) == first
    assert Attempt.objects.count() == 1


def test_the_same_key_with_other_bytes_is_a_conflict(worker):
    """WP-S3 one changed byte under a known key: 409, nothing written."""
    queued_run()
    queued_run()
    key = str(uuid.uuid4())
    worker.claim(key=key)
    before = JournalRow.objects.count()
    response = worker.claim(key=key, workerVersion="0.1.0+9f3c1a2c")
    assert (response.status_code, code(response)) == (409, "idempotency_conflict")
    assert (Attempt.objects.count(), JournalRow.objects.count()) == (1, before)


def test_a_key_is_required_and_has_the_form_of_a_uuid(worker):
    queued_run()
    response = worker.claim(key="once")
    assert (response.status_code, code(response)) == (400, "malformed")
    assert not Attempt.objects.exists()


def test_a_busy_worker_gets_no_second_run(worker):
    first = queued_run()
    queued_run()
    worker.claim()
    response = worker.claim()
    assert (response.status_code, code(response)) == (409, "worker_busy")
    assert response.json()["error"]["details"] == {"runId": first.run_id}


def test_a_claim_beyond_the_credential_leases_and_registers_nothing(worker):
    """WP-S8 a label outside the credential: 403 that names it, no attempt, no change of the registry."""
    queued_run()
    response = worker.claim(labels={"can": "deploy"})
    assert (response.status_code, code(response)) == (403, "capability_escalation")
    assert response.json()["error"]["details"]["label"] == "can=deploy"
    assert not Attempt.objects.exists()
    assert not Row.objects.exists()


@pytest.mark.parametrize(("version", "status"), [("0.0.9+9f3c1a2b", 409), ("0.1.0", 200), ("1.4.0+9f3c1a2b", 200)])
def test_a_worker_that_is_too_old_gets_no_run(worker, version, status):
    queued_run()
    response = worker.claim(workerVersion=version)
    assert response.status_code == status
    if status == 409:
        assert code(response) == "worker_outdated"
        assert not Attempt.objects.exists()


def test_an_unknown_spec_version_is_not_offered(worker):
    queued_run()
    assert worker.claim(specVersions=["factory.run-spec/v9"]).json()["claim"] is None


def test_a_claim_that_would_wait_is_answered_at_once_when_the_server_stops(worker):
    WAITING.stop_all()
    try:
        answer = worker.claim(waitSeconds=25).json()
        assert answer["reason"] == "stopping"
    finally:
        WAITING.open_again()


def test_an_empty_answer_says_whether_a_pause_or_a_limit_holds_what_is_there(worker):
    queued_run()
    pause = pause_set(scope="global", reason="night", actor="operator:maria")
    assert worker.claim().json()["reason"] == "paused"
    pause_lift(pause_id=pause.pk, actor="operator:maria")
    with edited_policy("weightClasses: {standard: {max: 0}, heavy: {max: 0}, light: {max: 0}}"):
        answer = worker.claim().json()
        check_answer("claim", answer)
        assert (answer["claim"], answer["reason"], answer["retryAfterMs"]) == (None, "limits", 500)
