"""Objects that nothing refers to are removed, whatever else happens at the same time; all others stay."""

import hashlib
import io
import os
from datetime import timedelta

import pytest
from django.core.files.storage import storages

from runs.artifacts.reading import artifact_bytes, artifacts_of_run, needs_operator
from runs.artifacts.references import forget_references, register_references
from runs.artifacts.removal import objects_remove, objects_unreferenced, strays_remove
from runs.artifacts.store import folder_of, object_name, object_stored
from runs.artifacts.uploads import artifact_upload
from runs.clock import now
from runs.contract.errors import NotFound, Transient
from runs.models import Artifact, ArtifactGrant, ResultArtifact, RunInput
from runs.queue.enqueue import run_enqueue
from tests.queue_driver import claim, completed_body, enqueue, failed_body, presented, publish, step_spec

OLD = timedelta(days=8)


@pytest.fixture(autouse=True)
def place(tmp_path, settings):
    """A store of the test's own."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "artifacts": backend}
    assert folder_of(storages["artifacts"]) == tmp_path
    return tmp_path


def hex_of(content):
    return hashlib.sha256(content).hexdigest()


def upload(attempt, content, kind="file"):
    return artifact_upload(
        presented(attempt),
        body=io.BytesIO(content),
        size=len(content),
        sha256=hex_of(content),
        media_type="text/plain",
        kind=kind,
    )


def reference(content, kind="transcript"):
    return {"kind": kind, "name": kind, "sha256": f"sha256:{hex_of(content)}", "sizeBytes": len(content)}


def ended(*contents, bound=()):
    """An attempt that uploaded these and failed naming some of them."""
    enqueue(maxEnvironmentRetries=0)
    attempt = claim()
    for content in contents:
        upload(attempt, content)
    publish(attempt, failed_body(attempt, artifactRefs=[reference(each) for each in bound]))
    return attempt


def age():
    Artifact.objects.update(stored_at=now() - OLD)


def remove():
    return objects_remove(now() - timedelta(days=7))


def is_stored(place, content):
    return (place / object_name(hex_of(content))).exists()


def test_an_object_goes_when_no_attempt_under_way_and_no_result_names_it(place):
    ended(b"named", b"forgotten", bound=[b"named"])
    enqueue()
    upload(claim(), b"granted")
    assert remove() == 0, "all are young"
    age()
    assert objects_unreferenced(now() - timedelta(days=7)) == 1
    assert remove() == 1
    assert [is_stored(place, each) for each in (b"named", b"forgotten", b"granted")] == [True, False, True]
    assert set(Artifact.objects.values_list("pk", flat=True)) == {hex_of(b"named"), hex_of(b"granted")}
    assert not ArtifactGrant.objects.filter(artifact=hex_of(b"forgotten")).exists()
    assert remove() == 0


def test_a_row_that_an_app_registers_keeps_its_object(place):
    ended(b"snapshot")
    age()
    register_references("plans", lambda hashes: [each for each in hashes if each == hex_of(b"snapshot")])
    try:
        assert remove() == 0
    finally:
        forget_references("plans")
    assert remove() == 1
    assert not is_stored(place, b"snapshot")


def test_an_input_that_a_queued_run_declares_stays_for_as_long_as_the_run(place):
    """RU-H10: what a queued run needs is there when it is claimed."""
    ended(b"failed log")
    inputs = [{"sha256": f"sha256:{hex_of(b'failed log')}", "as": "failed.log"}]
    run = run_enqueue(spec=step_spec(workspace={"kind": "artifacts", "inputs": inputs}), actor="flow:convergence:x").run
    age()
    assert RunInput.objects.get().run_id == run.pk
    assert remove() == 0
    run.delete()
    assert remove() == 1
    assert not is_stored(place, b"failed log")


def test_an_upload_makes_an_old_object_young_before_it_reads_a_byte(place):
    ended(b"same bytes")
    age()

    class Slow(io.BytesIO):
        """A body during whose arrival the removal runs."""

        def read(self, size=-1, /):
            assert remove() == 0
            return super().read(size)

    enqueue()
    attempt = claim()
    artifact_upload(
        presented(attempt), body=Slow(b"same bytes"), size=10, sha256=hex_of(b"same bytes"), media_type="text/plain"
    )
    assert is_stored(place, b"same bytes")
    assert b"".join(artifact_bytes(hex_of(b"same bytes"))) == b"same bytes"


def test_an_upload_waits_for_a_removal_that_broke_off_and_the_next_one_ends_it(place):
    ended(b"half gone")
    age()
    Artifact.objects.update(leaving_at=now())  # as a removal that was killed behind its mark leaves it
    enqueue()
    attempt = claim()
    with pytest.raises(Transient) as away:
        upload(attempt, b"half gone")
    assert away.value.code == "unavailable"
    remove()
    assert not Artifact.objects.exists()
    assert upload(attempt, b"half gone").created
    assert is_stored(place, b"half gone")


def test_files_that_no_row_knows_go_once_nobody_wrote_them_for_long(place):
    ended(b"known", bound=[b"known"])
    for content in (b"stray", b"young stray"):
        object_stored(io.BytesIO(content), size=len(content), sha256=hex_of(content))
    half = place / object_name(hex_of(b"known"))
    half = half.with_name(".upload-half")
    half.write_bytes(b"ha")
    old = (now() - OLD).timestamp()
    for path in (place / object_name(hex_of(b"known")), place / object_name(hex_of(b"stray")), half):
        os.utime(path, (old, old))
    assert strays_remove(now() - timedelta(days=7)) == 2
    assert [is_stored(place, each) for each in (b"known", b"stray", b"young stray")] == [True, False, True]
    assert not half.exists()


def test_a_link_in_the_place_of_an_object_is_never_followed(place, tmp_path_factory):
    """RU-S22"""
    ended(b"secret", bound=[b"secret"])
    outside = tmp_path_factory.mktemp("outside") / "file"
    outside.write_bytes(b"secret")
    target = place / object_name(hex_of(b"secret"))
    target.unlink()
    target.symlink_to(outside)
    with pytest.raises(NotFound) as corrupt:
        artifact_bytes(hex_of(b"secret"))
    assert corrupt.value.code == "artifact_corrupt"
    assert outside.read_bytes() == b"secret"
    assert not target.is_symlink()


def test_only_an_operator_reads_what_an_attempt_called_a_bundle_also_before_a_result_names_it():
    attempt = ended(b"log", b"unnamed", bound=[b"log"])
    assert not needs_operator(hex_of(b"log"))
    enqueue()
    upload(claim(), b"log", kind="bundle")
    assert needs_operator(hex_of(b"log"))
    listed = {(each.sha256, each.kind, each.bound) for each in artifacts_of_run(attempt.run)}
    assert listed == {(hex_of(b"log"), "transcript", True), (hex_of(b"unnamed"), "file", False)}


def test_an_accepted_result_keeps_its_objects():
    enqueue()
    attempt = claim()
    upload(attempt, b"transcript")
    body = completed_body(attempt, artifactRefs=[reference(b"transcript")])
    body["result"]["artifacts"] = [reference(b"transcript")]
    publish(attempt, body)
    age()
    assert remove() == 0
    assert ResultArtifact.objects.get().artifact_id == hex_of(b"transcript")
