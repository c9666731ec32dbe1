import hashlib

import pytest

from runs.artifacts.store import object_name
from runs.artifacts.store import store as object_store
from runs.models import Artifact, Document, ResultArtifact
from tests.browser.fleet import fill_fleet, store
from tests.db.api.conftest import error

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(world):
    return fill_fleet(world)


def body_of(answer):
    return b"".join(answer.streaming_content)


def test_a_worker_is_shown_with_what_it_holds(viewer, fleet):
    found = viewer.get(f"/api/v1/workers/{fleet.busy}").json()
    assert (found["state"], found["runId"]) == ("busy", fleet.running.run_id)
    assert [each["runId"] for each in found["attempts"]] == [fleet.running.run_id]
    assert error(viewer.get("/api/v1/workers/nobody"), 404)["code"] == "unknown_worker"


@pytest.mark.usefixtures("fleet")
def test_an_agent_is_shown_with_its_definition_and_the_words_it_is_told(viewer):
    agents = [each["agent"] for each in viewer.get("/api/v1/agents").json()["items"]]
    assert agents == [
        "fix-ci@1",
        "pr-review@1",
        "rebase@1",
        "scope-classify@1",
    ]
    found = viewer.get("/api/v1/agents/pr-review@1").json()
    assert found["definition"]["outputContract"] == "factory.pr-review/v1"
    prompt = viewer.get("/api/v1/agents/pr-review/prompt").json()
    assert prompt["text"] == Document.objects.get(hash=prompt["hash"]).text
    assert [each["hash"] for each in prompt["versions"]] == [prompt["hash"]]
    assert error(viewer.get("/api/v1/agents/nobody"), 404)["code"] == "unknown_agent"


@pytest.mark.usefixtures("fleet")
def test_the_doctor_answers_its_rows(viewer):
    rows = viewer.get("/api/v1/doctor").json()["items"]
    assert "outbox_dead" in {row["code"] for row in rows}
    assert {"code", "level", "count", "since", "text", "examples", "mend"} == set(rows[0])


def test_an_object_is_sent_as_an_attachment_that_no_browser_runs(viewer, fleet):
    answer = viewer.get(f"/artifacts/{fleet.log_sha256}")
    content = body_of(answer)
    assert hashlib.sha256(content).hexdigest() == fleet.log_sha256
    assert answer["Content-Disposition"] == 'attachment; filename="console.log"'
    assert answer["Content-Security-Policy"] == "sandbox"
    assert int(answer["Content-Length"]) == len(content)
    assert error(viewer.get("/artifacts/" + "0" * 64), 404)["code"] == "unknown_artifact"
    assert error(viewer.get("/artifacts/abc"), 404)["code"] == "unknown_artifact"


def test_a_bundle_is_for_operators(viewer, operator, fleet):
    attempt = fleet.failed.attempts.get()
    sha256 = store(attempt, b"a bundle")
    ResultArtifact.objects.create(attempt=attempt, artifact_id=sha256, kind="bundle", name="work.bundle")
    assert error(viewer.get(f"/artifacts/{sha256}"), 403)["code"] == "role_required"
    assert body_of(operator.get(f"/artifacts/{sha256}")) == b"a bundle"


def test_the_objects_of_a_run_are_listed_with_what_names_them(viewer, fleet):
    attempt = fleet.failed.attempts.get()
    unnamed = store(attempt, b"only uploaded")
    items = viewer.get(f"/api/v1/artifacts?run={fleet.failed.run_id}").json()["items"]
    assert [(each["sha256"], each["name"], each["bound"]) for each in items] == [
        (fleet.log_sha256, "console.log", True),
        (unnamed, "", False),
    ]
    assert {(each["attempt"], each["damaged"]) for each in items} == {(1, False)}
    assert items[1]["sizeBytes"] == len(b"only uploaded")
    assert error(viewer.get("/api/v1/artifacts?run=run_0"), 404)["code"] == "unknown_run"
    assert error(viewer.get("/api/v1/artifacts"), 400)["code"] == "invalid_field"


def test_an_object_that_was_damaged_on_disk_is_not_sent(viewer, fleet):
    """RU-S22: 404 `artifact_corrupt`, the doctor lists it, the object is in quarantine."""
    sha256 = store(fleet.failed.attempts.get(), b"whole")
    with object_store().open(object_name(sha256), "wb") as file:
        file.write(b"other")
    assert error(viewer.get(f"/artifacts/{sha256}"), 404)["code"] == "artifact_corrupt"
    assert Artifact.objects.get(pk=sha256).quarantined_at is not None
    assert "artifact_corrupt" in {row["code"] for row in viewer.get("/api/v1/doctor").json()["items"]}
