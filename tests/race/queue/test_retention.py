"""Retention beside itself, and beside uploads of the very bytes that it removes."""

import hashlib
import io
from datetime import timedelta

import pytest

from runs.artifacts.reading import artifact_bytes
from runs.artifacts.removal import objects_remove
from runs.artifacts.store import object_stored
from runs.artifacts.uploads import artifact_upload
from runs.clock import now
from runs.contract.errors import Transient
from runs.models import Artifact, ArtifactGrant, Attempt, RemovedRun, Run, TraceRow
from runs.retention.prune import pruned
from tests.queue_driver import claim, completed_body, enqueue, presented, publish
from tests.threads import together


def test_prunes_at_once_remove_what_one_would_have_and_nothing_twice():
    """RU-H16"""
    for number in range(12):
        run = enqueue(subject=f"pull-request:1:{number}")
        attempt = claim()
        publish(attempt, completed_body(attempt))
        TraceRow.objects.create(attempt=attempt, seq=1, at=now(), kind="usage", payload_json="{}")
        at = now() - timedelta(days=500)
        Run.objects.filter(pk=run.pk).update(created_at=at, ended_at=at)
        Attempt.objects.filter(pk=attempt.pk).update(claimed_at=at, finished_at=at)
    told = together([lambda: {each.rule.name: each.count for each in pruned()}] * 4)
    assert not Run.objects.exists()
    assert RemovedRun.objects.count() == 12
    assert sum(each["runs"] for each in told) == 12


def stored_long_ago(content):
    sha256 = hashlib.sha256(content).hexdigest()
    object_stored(io.BytesIO(content), size=len(content), sha256=sha256)
    Artifact.objects.create(
        sha256=sha256, size_bytes=len(content), media_type="text/plain", stored_at=now() - timedelta(days=9)
    )
    return sha256


@pytest.mark.parametrize("turn", range(8))
def test_an_upload_beside_the_removal_of_its_bytes_ends_with_them_stored_or_is_told_to_come_again(turn):
    content = f"the same bytes {turn}".encode()
    sha256 = stored_long_ago(content)
    enqueue()
    attempt = claim()

    def upload():
        try:
            artifact_upload(
                presented(attempt),
                body=io.BytesIO(content),
                size=len(content),
                sha256=sha256,
                media_type="text/plain",
            )
        except Transient as away:
            return away.code
        return "stored"

    outcome, _, _ = together([upload, *[lambda: objects_remove(now() - timedelta(days=7))] * 2])
    if outcome == "unavailable":
        assert upload() == "stored"
    assert ArtifactGrant.objects.get().artifact_id == sha256
    assert b"".join(artifact_bytes(sha256)) == content
