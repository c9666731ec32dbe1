import base64
import hashlib
import json
import uuid
from datetime import timedelta

import pytest
from django.core.files.storage import storages

from runs.clock import now
from runs.contract.canonical import document_hash
from runs.contract.wire import check_answer
from runs.models import Artifact, ArtifactGrant, Attempt, JournalRow, Outbox, Receipt, Result, Run, TraceRow, Usage
from runs.queue.cancel import run_cancel
from tests.db.workers.jobs import EXECUTION, Job, ref
from tests.db.workers.wire import code, worker_on
from workers.wire import limits

pytestmark = pytest.mark.django_db


def everything():
    """What a refused submission must leave as it was."""
    return [
        list(model.objects.order_by("pk").values())
        for model in (Run, Attempt, JournalRow, Result, Receipt, Usage, Outbox, ArtifactGrant)
    ]


@pytest.fixture
def job(worker):
    return Job(worker)


def test_a_completed_result_ends_the_run_with_a_receipt(job):
    assert job.upload().status_code == 201
    response = job.publish(job.completed([ref()]))
    assert response.status_code == 200
    answer = response.json()
    check_answer("result", answer)
    assert (answer["runId"], answer["attempt"], answer["terminalState"]) == (job.run_id, 1, "completed")
    assert answer["receipt"]["receiptHash"] == Receipt.objects.get().receipt_hash
    assert job.state() == "completed"


def rows(at="2026-08-30T12:31:20.300Z", **changes):
    return [{"seq": 1, "at": at, "kind": "lifecycle", "payload": {"event": "ended"}, **changes}]


def test_the_last_rows_of_the_trace_come_with_the_result(job):
    assert job.publish({**job.completed(), "trace": rows()}).status_code == 200
    assert list(TraceRow.objects.values_list("seq", "kind")) == [(1, "lifecycle")]


def test_rows_of_the_trace_that_cannot_be_read_cost_no_result(job):
    assert job.publish({**job.completed(), "trace": rows(at="2026-13-30T12:31:20.300Z")}).status_code == 200
    assert job.state() == "completed"
    assert not TraceRow.objects.exists()


def test_a_failure_goes_back_to_the_queue_while_the_retry_rule_allows(job):
    answer = job.publish(job.failed("worker_crashed")).json()
    check_answer("result", answer)
    assert (answer["terminalState"], answer["runState"]) == ("failed", "queued")
    assert "receipt" not in answer


def test_a_lost_answer_of_a_result_is_given_again(job):
    """WP-S2 the key of a result whose answer was lost gets the receipt again, and nothing is published twice."""
    key = str(uuid.uuid4())
    body = job.completed()
    first = job.publish(body, key).json()
    before = everything()
    again = job.publish(body, key).json()
    assert again.pop("serverTime") >= first.pop("serverTime")
    assert again == first
    assert everything() == before


def test_a_lost_answer_is_the_same_after_the_run_was_leased_again(job):
    key = str(uuid.uuid4())
    body = job.failed("worker_crashed")
    first = job.publish(body, key).json()
    Run.objects.update(hold="", available_at=None, hold_checked_at=None)
    job.worker.claim()
    again = job.publish(body, key).json()
    assert (again["attempt"], again["runState"]) == (first["attempt"], "queued")


def test_a_known_key_with_one_byte_changed_is_a_conflict(job):
    """WP-S3 the same key with other bytes: 409, nothing written."""
    key = str(uuid.uuid4())
    job.publish(job.completed(), key)
    before = everything()
    changed = job.completed()
    changed["execution"] = {**EXECUTION, "durationMs": 1201}
    response = job.publish(changed, key)
    assert (response.status_code, code(response)) == (409, "idempotency_conflict")
    assert everything() == before


def test_a_second_submission_is_refused(job):
    job.publish(job.completed())
    response = job.publish(job.completed())
    assert (response.status_code, code(response)) == (409, "attempt_terminal")
    assert Result.objects.count() == 1


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda job: job.completed([ref()]), "artifact_not_granted"),
        (
            lambda job: job.completed(artifact={"verdict": 7}, artifactHash=document_hash({"verdict": 7})),
            "output_schema",
        ),
        (lambda job: job.completed(artifactHash="sha256:" + "0" * 64), "result_schema"),
        (lambda job: job.completed(outputContract="other/v1"), "result_schema"),
        (lambda job: job.completed() | {"specHash": "sha256:" + "0" * 64}, "definition_mismatch"),
    ],
    ids=["grant", "schema", "hash", "contract", "spec"],
)
def test_a_submission_that_fails_a_check_leaves_everything_as_it_was(job, spoil, expected):
    """WP-H7 422 leaves run, attempt and journal as they were; the worker may report the violation under a new key."""
    before = everything()
    response = job.publish(spoil(job))
    assert response.status_code == 422
    assert response.json()["error"]["details"]["check"] == expected
    assert everything() == before
    assert job.publish(job.failed("contract_violation", detail={"check": expected})).status_code == 200


def test_a_result_may_not_name_what_another_attempt_uploaded(worker):
    """WP-S13 an object that another attempt uploaded: 422 artifact_not_granted, the run unchanged."""
    other = Job(worker_on("labor"))
    assert other.upload().status_code == 201
    job = Job(worker)
    response = job.publish(job.completed([ref()]))
    assert (response.status_code, code(response)) == (422, "artifact_not_granted")
    assert job.state() == "leased"


def test_the_size_that_a_result_claims_must_be_the_stored_one(job):
    job.upload()
    response = job.publish(job.completed([ref(sizeBytes=7)]))
    assert code(response) == "artifact_not_granted"


def test_an_upload_with_a_wrong_digest_leaves_nothing(job, artifact_store):
    """WP-S12 422, no object, no grant."""
    wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    response = job.upload(Digest=f"sha-256={wrong}")
    assert (response.status_code, code(response)) == (422, "digest_mismatch")
    assert not Artifact.objects.exists()
    assert not ArtifactGrant.objects.exists()
    assert [path for path in artifact_store.rglob("*") if path.is_file()] == []


def test_the_same_bytes_of_two_workers_are_one_object_with_two_grants(worker):
    """WP-S12 one object, two grants, and no result may bind the other's grant alone."""
    jobs = [Job(worker), Job(worker_on("labor"))]
    responses = [job.upload() for job in jobs]
    assert [response.status_code for response in responses] == [201, 200]
    for response in responses:
        check_answer("upload", response.json())
    assert (Artifact.objects.count(), ArtifactGrant.objects.count()) == (1, 2)
    ArtifactGrant.objects.filter(attempt__worker_id=worker.worker_id).delete()
    assert code(jobs[0].publish(jobs[0].completed([ref()]))) == "artifact_not_granted"
    assert jobs[1].publish(jobs[1].completed([ref()])).status_code == 200


def test_uploaded_bytes_are_the_stored_bytes(job):
    content = bytes(range(256)) * 1000
    assert job.upload(content).json()["sizeBytes"] == len(content)
    row = Artifact.objects.get()
    with storages["artifacts"].open(f"{row.sha256[:2]}/{row.sha256[2:4]}/{row.sha256}") as file:
        assert file.read() == content


def test_an_upload_beyond_the_limits_of_the_spec_is_refused_unread(worker):
    job = Job(worker, artifactLimits={"count": 1, "bytesEach": 8, "bytesTotal": 8})
    response = job.upload(b"123456789")
    assert (response.status_code, code(response)) == (413, "too_large")
    assert job.upload(b"12345678").status_code == 201
    response = job.upload(b"1")
    assert (response.status_code, code(response)) == (422, "artifact_limit")


def test_an_upload_of_a_stale_attempt_is_fenced_and_stores_nothing(job):
    response = job.upload(X_Fencing_Token="999999")
    assert (response.status_code, code(response)) == (409, "fenced")
    assert not Artifact.objects.exists()


def test_a_cancelled_attempt_may_still_save_its_work(job):
    run_cancel(run=job.run, code="operator_cancel", actor="operator:test")
    assert job.upload(b"saved", X_Artifact_Kind="bundle").status_code == 201
    for response in (job.upload(b"other", X_Artifact_Kind="file"), job.publish(job.completed())):
        assert (response.status_code, code(response)) == (409, "attempt_terminal")
    Attempt.objects.update(finished_at=now() - timedelta(minutes=10))
    response = job.upload(b"too late", X_Artifact_Kind="bundle")
    assert (response.status_code, code(response)) == (409, "attempt_terminal")


def test_an_upload_behind_the_deadline_ends_the_attempt_unread(job):
    Attempt.objects.update(deadline_at=now())
    response = job.upload()
    assert (response.status_code, code(response)) == (409, "lease_expired")
    assert Attempt.objects.get().reason_code == "lease_expired"
    assert not Artifact.objects.exists()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"Digest": "md5=abc"}, "malformed"),
        ({"Digest": "sha-256=abc"}, "malformed"),
        ({"X_Attempt": "one"}, "malformed"),
        ({"X_Run_Id": "run_00000000000000000000000000"}, "not_found"),
        ({"Transfer_Encoding": "chunked"}, "length_required"),
    ],
)
def test_an_upload_states_what_it_is(job, changes, expected):
    assert code(job.upload(**changes)) == expected


def test_a_fifth_upload_at_once_has_to_wait(job):
    from workers.models import CredentialToken

    credential = CredentialToken.objects.get().credential_id
    with (
        limits.uploads.one(credential),
        limits.uploads.one(credential),
        limits.uploads.one(credential),
        limits.uploads.one(credential),
    ):
        response = job.upload()
        assert (response.status_code, code(response)) == (429, "rate_limited")
        assert int(response["Retry-After"]) >= 1
    assert job.upload().status_code == 201


def test_the_result_of_another_nodes_run_does_not_exist_whatever_else_is_wrong(job):
    """WP-S18 a run of another node: 404 before anything about the submission is said."""
    job.worker = worker_on("labor")
    body = job.completed([ref()]) | {"specHash": "sha256:" + "0" * 64}
    assert code(job.publish(body)) == "not_found"
    assert code(job.upload()) == "not_found"


def test_documents_open_to_the_node_that_holds_the_run_and_to_no_other(job):
    hashes = [entry["hash"] for entry in job.claim["documents"]]
    hashes.append(job.claim["prompt"]["hash"])
    other = worker_on("labor")
    for found in hashes:
        path = f"/worker/v1/documents/{found.removeprefix('sha256:')}"
        response = job.worker.get(path)
        assert response.status_code == 200
        assert "sha256:" + hashlib.sha256(response.content).hexdigest() == found
        assert response["ETag"] == f'"{found.removeprefix("sha256:")}"'
        assert code(other.get(path)) == "not_found"
    assert code(job.worker.get("/worker/v1/documents/" + "0" * 64)) == "not_found"
    assert code(job.worker.get("/worker/v1/documents/short")) == "not_found"


def test_declared_inputs_open_to_their_attempt_alone(worker):
    first = Job(worker)
    first.upload(b"the log")
    sha256 = hashlib.sha256(b"the log").hexdigest()
    first.publish(first.completed([ref(b"the log")]))
    inputs = [{"sha256": f"sha256:{sha256}", "as": "failed.log"}]
    job = Job(worker, workspace={"kind": "artifacts", "inputs": inputs})
    path = f"/worker/v1/artifacts/{sha256}"
    response = worker.get(f"{path}?runId={job.run_id}&attempt=1")
    assert response.status_code == 200
    assert b"".join(response.streaming_content) == b"the log"
    assert code(worker.get(f"{path}?runId={first.run_id}&attempt=1")) == "not_found"
    assert code(worker.get(path)) == "not_found"
    assert code(worker_on("labor").get(f"{path}?runId={job.run_id}&attempt=1")) == "not_found"


def test_a_damaged_input_is_not_served(worker, artifact_store):
    first = Job(worker)
    first.upload(b"the log")
    sha256 = hashlib.sha256(b"the log").hexdigest()
    first.publish(first.completed([ref(b"the log")]))
    job = Job(worker, workspace={"kind": "artifacts", "inputs": [{"sha256": f"sha256:{sha256}", "as": "a"}]})
    (artifact_store / sha256[:2] / sha256[2:4] / sha256).write_bytes(b"the lag")
    assert code(worker.get(f"/worker/v1/artifacts/{sha256}?runId={job.run_id}&attempt=1")) == "not_found"


def test_a_body_that_is_no_strict_json_is_malformed(job):
    for content in (b"{", b'{"attempt": 1, "attempt": 2}', b'{"attempt": NaN}', b"\xff", b"[]", b""):
        response = job.publish(content)
        assert (response.status_code, code(response)) == (400, "malformed")
    assert json.loads(job.publish(job.completed()).content)["accepted"]
