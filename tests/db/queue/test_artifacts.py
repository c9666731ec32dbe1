"""Stored bytes, who may bind them, and documents that a node may read."""

import hashlib
import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import storages

from runs.artifacts.reading import artifact_bytes
from runs.artifacts.store import object_name, object_stored
from runs.artifacts.uploads import artifact_upload
from runs.clock import now
from runs.contract.canonical import bare_hex
from runs.contract.errors import Invalid, NotFound, Refused
from runs.models import Artifact, ArtifactGrant, Attempt, Receipt, ResultArtifact
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.cancel import run_cancel
from runs.queue.documents import document_for, input_artifact_allowed
from tests.queue_driver import (
    OFFER,
    claim,
    completed_body,
    enqueue,
    failed_body,
    make_due,
    presented,
    publish,
    release_backoff,
    seasoned_reaper,
    worker,
)

TEXT = b"hello\n"


def hex_of(content):
    return hashlib.sha256(content).hexdigest()


def upload(attempt, content=TEXT, *, sha256=None, kind="file"):
    return artifact_upload(
        presented(attempt),
        body=io.BytesIO(content),
        size=len(content),
        sha256=sha256 or hex_of(content),
        media_type="text/plain",
        kind=kind,
    )


def reference(content=TEXT, kind="transcript", name="transcript.jsonl"):
    return {"kind": kind, "name": name, "sha256": f"sha256:{hex_of(content)}", "sizeBytes": len(content)}


def stored_path(content=TEXT):
    return Path(storages["artifacts"].path(object_name(hex_of(content))))


@pytest.fixture(autouse=True)
def _empty_store():
    yield
    for path in [stored_path(), stored_path(b"other"), stored_path(b"12345")]:
        path.unlink(missing_ok=True)


def test_the_same_bytes_of_two_attempts_are_one_object_with_two_grants():
    """WP-S12"""
    enqueue()
    enqueue()
    first, second = claim(), claim()
    assert upload(first).created
    assert not upload(second).created
    upload(first)
    assert Artifact.objects.get().size_bytes == len(TEXT)
    assert ArtifactGrant.objects.count() == 2
    assert stored_path().read_bytes() == TEXT
    assert [path.name for path in stored_path().parent.iterdir()] == [hex_of(TEXT)]


def test_a_digest_that_differs_leaves_nothing_behind():
    """WP-S12"""
    enqueue()
    attempt = claim()
    with pytest.raises(Invalid) as wrong:
        upload(attempt, sha256=hex_of(b"other"))
    assert wrong.value.code == "digest_mismatch"
    assert not Artifact.objects.exists()
    assert not ArtifactGrant.objects.exists()
    assert not list(stored_path(b"other").parent.glob("*"))


def test_an_object_that_another_attempt_uploaded_cannot_be_bound():
    """WP-S13"""
    run, other = enqueue(), enqueue()
    mine, theirs = claim(), claim()
    upload(theirs)
    body = completed_body(mine, artifactRefs=[reference()])
    with pytest.raises(Invalid) as refused:
        publish(mine, body)
    assert refused.value.code == "artifact_not_granted"
    upload(mine)
    with pytest.raises(Invalid):
        publish(mine, completed_body(mine, artifactRefs=[{**reference(), "sizeBytes": 5}]))
    body["result"]["artifacts"] = [reference()]
    publish(mine, body)
    bound = ResultArtifact.objects.get()
    assert (bound.kind, bound.name, bound.artifact_id) == ("transcript", "transcript.jsonl", hex_of(TEXT))
    assert Receipt.objects.get(run=run).document["artifacts"] == [
        {"kind": "transcript", "sha256": f"sha256:{hex_of(TEXT)}"}
    ]
    other.refresh_from_db()
    assert other.state == "leased"


def test_what_a_failed_attempt_saved_stays_bound_to_it():
    enqueue()
    attempt = claim()
    upload(attempt, kind="bundle")
    publish(attempt, failed_body(attempt, artifactRefs=[reference(kind="bundle", name="work.bundle")]))
    assert ResultArtifact.objects.get(attempt=attempt).result is None


def test_a_damaged_object_is_put_aside_and_never_served():
    enqueue()
    upload(claim())
    assert b"".join(artifact_bytes(hex_of(TEXT))) == TEXT
    stored_path().write_bytes(b"hellO\n")
    with pytest.raises(NotFound) as corrupt:
        artifact_bytes(hex_of(TEXT))
    assert corrupt.value.code == "artifact_corrupt"
    assert not stored_path().exists()
    aside = Path(storages["artifacts"].path(f"quarantine/{hex_of(TEXT)}"))
    assert aside.read_bytes() == b"hellO\n"
    assert Artifact.objects.get().quarantined_at is not None
    enqueue()
    upload(claim())
    assert b"".join(artifact_bytes(hex_of(TEXT))) == TEXT
    aside.unlink()


def test_a_link_in_the_place_of_an_object_is_refused(tmp_path):
    target = stored_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Invalid):
        object_stored(io.BytesIO(TEXT), size=len(TEXT), sha256=hex_of(TEXT))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"count": 1}, "artifact_limit"),
        ({"bytesEach": 4}, "too_large"),
        ({"bytesTotal": 10}, "artifact_limit"),
    ],
)
def test_the_limits_of_the_specification_hold_before_a_byte_is_read(limits, code):
    enqueue(artifactLimits=limits)
    attempt = claim()
    first = b"1234" if "bytesEach" in limits else TEXT
    upload(attempt, first)
    upload(attempt, first)
    with pytest.raises(Invalid) as refused:
        upload(attempt, b"12345")
    assert refused.value.code == code
    assert not stored_path(b"12345").exists()
    assert ArtifactGrant.objects.count() == 1


def test_an_older_attempt_uploads_nothing_and_a_cancelled_one_only_what_it_saved():
    """RU-S3, WP-H3"""
    run = enqueue(maxEnvironmentRetries=3)
    old = claim(worker(1))
    make_due(old, silent=True)
    reaper_pass(seasoned_reaper())
    release_backoff(run)
    new = claim(worker(2))
    with pytest.raises(Refused) as fenced:
        upload(old)
    assert fenced.value.code == "fenced"
    assert not ArtifactGrant.objects.exists()
    run_cancel(run=run, code="operator_cancel", actor="operator:ann")
    with pytest.raises(Refused, match="uploads only"):
        upload(new)
    upload(new, kind="bundle")
    Attempt.objects.filter(pk=new.pk).update(finished_at=now() - timedelta(minutes=11))
    with pytest.raises(Refused, match="uploads only"):
        upload(new, b"other", kind="bundle")
    assert ArtifactGrant.objects.count() == 1


def test_a_node_reads_the_documents_of_its_own_attempts_for_ten_minutes():
    enqueue()
    attempt = claim(worker(1, "lab"))
    for content_hash in (attempt.def_hash, attempt.prompt_hash):
        assert document_for("lab", bare_hex(content_hash)).hash == content_hash
        with pytest.raises(NotFound):
            document_for("den", bare_hex(content_hash))
    with pytest.raises(NotFound):
        document_for("lab", "0" * 64)
    publish(attempt, completed_body(attempt))
    assert document_for("lab", bare_hex(attempt.def_hash)).kind == "definition"
    Attempt.objects.update(finished_at=now() - timedelta(minutes=11))
    with pytest.raises(NotFound):
        document_for("lab", bare_hex(attempt.def_hash))


def test_an_attempt_reads_the_artifacts_that_its_specification_declares():
    Artifact.objects.create(sha256=hex_of(TEXT), size_bytes=6, media_type="text/plain", stored_at=now())
    inputs = [{"sha256": f"sha256:{hex_of(TEXT)}", "as": "failed.log"}]
    run = enqueue(workspace={"kind": "artifacts", "inputs": inputs})
    offer = replace(OFFER, workspace_kinds=OFFER.workspace_kinds | {"artifacts"})
    attempt = claim(worker(1, "lab"), offer=offer)

    def allowed(node, content):
        return input_artifact_allowed(node, hex_of(content), run_id=run.run_id, attempt_number=attempt.number)

    assert allowed("lab", TEXT)
    assert not allowed("lab", b"other")
    assert not allowed("den", TEXT)
