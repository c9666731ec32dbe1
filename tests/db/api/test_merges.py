"""A person's word in a merge over the API and the commands: the same services, the same refusals."""

import pytest

from merging.models import Dependency, LaneMember, MergeFlow
from merging.services.lanes import Exclusion, Task, lanes_set
from runs.clock import now
from tests.db.api.conftest import error
from tests.db.commands.conftest import manage, refused

pytestmark = pytest.mark.django_db


@pytest.fixture(name="pull")
def waiting_pull(world):
    assert world.merged
    found = MergeFlow.rows().get(state="waiting_merge").pull
    Dependency.objects.create(
        pull=found,
        key="501#399",
        reference="acme/web#399",
        number=399,
        source="submitted",
        standing="waiting",
        added_by="operator:ops-1",
        added_at=now(),
    )
    return found


def path(pull, verb=""):
    return f"/api/v1/pull-requests/{pull.repository.full_name}/{pull.number}{verb}"


def test_a_dependency_is_dropped_for_a_reason(operator, viewer, pull):
    assert error(viewer.post(path(pull, "/drop-dependency"), {"key": "501#399"}), 403)["code"] == "role_required"
    assert error(operator.post(path(pull, "/drop-dependency"), {"key": "501#399"}), 400)["code"] == "reason_required"
    missing = error(operator.post(path(pull, "/drop-dependency"), {"key": "#1", "reason": "x"}), 404)
    assert missing["code"] == "unknown_dependency"
    assert "acme/web#399" in missing["message"]
    answer = operator.post(path(pull, "/drop-dependency"), {"key": "acme/web#399", "reason": "Not needed."})
    assert answer.json() == {"prKey": pull.key, "state": "waiting_merge"}
    shown = viewer.get(path(pull)).json()["dependencies"]
    assert [(each["key"], each["state"], each["dropReason"]) for each in shown] == [
        ("acme/web#399", "waiting", "Not needed.")
    ]


def test_a_lane_is_passed_for_a_reason(operator, world, pull):
    assert error(operator.post(path(pull, "/pass-lane"), {"reason": "x"}), 409)["code"] == "not_held"
    lanes_set("plan:1", [Task("a", 0, 0, world.escalated), Task("b", 0, 1, pull)], [Exclusion("a", "b")])
    assert error(operator.post(path(pull, "/pass-lane"), {}), 400)["code"] == "reason_required"
    assert operator.post(path(pull, "/pass-lane"), {"reason": "Urgent."}).status_code == 200
    assert LaneMember.objects.get(name="b").pass_reason == "Urgent."
    lane = operator.get(path(pull)).json()["lane"]
    assert lane["order"] == [world.escalated.key, pull.key]


def test_the_commands_say_the_same(pull):
    assert manage("prs", "drop-dependency", pull.key, "acme/web#399", "--reason", "No.") == (
        f"{pull.key} no longer waits for acme/web#399\n"
    )
    assert "is in no lane" in refused("prs", "pass-lane", pull.key, "--reason", "Go.")
    assert "merges after acme/web#399 (submitted): dropped by " in manage("prs", "show", pull.key)
