"""What the routes answer has exactly the keys and types that the published description promises."""

import pytest

from factory_site.api import answers, run_answers
from factory_site.api.fleet import answers as fleet
from runs.models import Run
from tests import queue_driver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("world")]


def keys(document):
    """The document with every value that is no object or list replaced by nothing."""
    if isinstance(document, dict):
        return {name: keys(value) for name, value in document.items()}
    return [keys(value) for value in document] if isinstance(document, list) else None


def assert_shape(model, document):
    seen = model.model_validate(document)
    assert keys(seen.model_dump(mode="json", by_alias=True, exclude_unset=True)) == keys(document)


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/api/v1/status", answers.StatusAnswer),
        ("/api/v1/pull-requests", answers.PullList),
        ("/api/v1/pull-requests/acme/web/398", answers.PullDetail),
        ("/api/v1/pull-requests/acme/web/412", answers.PullDetail),
        ("/api/v1/tasks", answers.TaskList),
        ("/api/v1/workers", answers.WorkerList),
        ("/api/v1/doctor", fleet.Findings),
    ],
)
def test_an_answer_has_the_shape_that_is_published(viewer, path, model):
    answer = viewer.get(path)
    assert answer.status_code == 200
    assert_shape(model, answer.json())


def test_every_pull_request_has_the_published_shape(viewer):
    for row in viewer.get("/api/v1/pull-requests").json()["items"]:
        path = row["prKey"].replace("#", "/")
        assert_shape(answers.PullDetail, viewer.get(f"/api/v1/pull-requests/{path}").json())


def test_a_run_has_the_published_shape_at_every_step_of_its_life(viewer):
    queue_driver.load_definitions()
    run = queue_driver.enqueue()
    assert_run(viewer, run)
    attempt = queue_driver.claim()
    queue_driver.beat(attempt, "running", 1)
    assert_run(viewer, run)
    queue_driver.publish(attempt, queue_driver.completed_body(attempt))
    assert_run(viewer, run)
    receipt = viewer.get(f"/api/v1/runs/{run.run_id}/receipt").json()
    assert_shape(run_answers.Receipt, receipt)


def test_why_a_run_waits_names_what_each_worker_lacks(viewer):
    queue_driver.load_definitions()
    run = queue_driver.enqueue()
    document = viewer.get(f"/api/v1/runs/{run.run_id}/why").json()
    assert_shape(run_answers.Why, document)
    assert document["waiting"]["code"] == "unplaceable"
    assert document["workers"]
    assert all(row["lacks"] for row in document["workers"])


def test_agents_workers_and_prompts_have_the_published_shape(viewer):
    queue_driver.load_definitions()
    agents = viewer.get("/api/v1/agents").json()
    assert_shape(fleet.AgentList, agents)
    for row in agents["items"]:
        assert_shape(fleet.AgentDetail, viewer.get(f"/api/v1/agents/{row['id']}").json())
        assert_shape(fleet.PromptAnswer, viewer.get(f"/api/v1/agents/{row['agent']}/prompt").json())
    for row in viewer.get("/api/v1/workers").json()["items"]:
        assert_shape(fleet.WorkerDetail, viewer.get(f"/api/v1/workers/{row['workerId']}").json())


def assert_run(viewer, run: Run):
    path = f"/api/v1/runs/{run.run_id}"
    assert_shape(run_answers.RunList, viewer.get("/api/v1/runs").json())
    assert_shape(run_answers.RunDetail, viewer.get(path).json())
    assert_shape(run_answers.Trace, viewer.get(f"{path}/trace").json())
    assert_shape(run_answers.Why, viewer.get(f"{path}/why").json())
