"""The merge tab: what was read, what goes first, and a person's word in it."""

from http import HTTPStatus

import pytest
from django.utils.html import strip_tags

from convergence.models import PullRequest
from merging.models import Dependency, LaneMember, MergeFlow, MergeHold
from merging.services.lanes import Exclusion, Task, lanes_set
from runs.clock import now

pytestmark = pytest.mark.django_db


def text(response):
    return response.content.decode()


@pytest.fixture(name="pull")
def waiting_pull(world):
    """The pull request of the filled console whose merge waits."""
    assert world.merged
    return MergeFlow.rows().get(state="waiting_merge").pull


def address(pull):
    return f"/pull-requests/{pull.repository.full_name}/{pull.number}/"


@pytest.fixture(name="waited_for")
def dependency(pull):
    return Dependency.objects.create(
        pull=pull,
        key="501#399",
        reference="acme/web#399",
        number=399,
        source="declared",
        standing="waiting",
        added_by="body",
        added_at=now(),
    )


def test_the_tab_says_what_was_read_and_what_is_declared(operator, pull):
    MergeFlow.rows().filter(pull=pull).update(
        verdict_inputs={
            "mergeState": "CLEAN",
            "complete": True,
            "required": 3,
            "green": 3,
            "head": "9f3c2e1" + "0" * 33,
            "declared": [{"name": "integration", "state": "missing"}],
        }
    )
    MergeHold.objects.create(pull=pull, kind="trial_merge", group="plan:1", set_by="flow:plan:x", set_at=now())
    page = text(operator.get(f"{address(pull)}?tab=merge"))
    assert "CLEAN, 3 of 3 required green, 0 of 1 declared accepted at 9f3c2e1" in page
    assert "integration" in page
    assert "Missing" in page
    assert "Hold: trial merge of plan:1" in page


def test_the_landed_commit_is_a_link(operator, world):
    page = text(operator.get(f"{address(world.merged)}?tab=merge"))
    landed = MergeFlow.rows().get(pull=world.merged).landed_sha
    assert f"/commit/{landed}" in page
    assert "Landed" in page


def test_a_dependency_is_dropped_with_a_reason_and_the_page_shows_who_did(operator, pull, waited_for):
    page = text(operator.get(f"{address(pull)}?tab=merge"))
    assert "acme/web#399" in page
    response = operator.post(f"{address(pull)}drop-dependency/?tab=merge", key="501#399", reason="Not needed.")
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, f"{address(pull)}?tab=merge")
    waited_for.refresh_from_db()
    assert (waited_for.dropped_by, waited_for.drop_reason) == ("operator:ops-1", "Not needed.")
    assert "Not needed." in text(operator.get(f"{address(pull)}?tab=merge"))


def depends(pull, first):
    """``pull`` merges after ``first``."""
    return Dependency.objects.create(
        pull=pull,
        key=f"{first.repository.forge_id}#{first.number}",
        reference=first.key,
        repository_id=first.repository.forge_id,
        number=first.number,
        source="declared",
        standing="waiting",
        added_by="body",
        added_at=now(),
    )


def test_both_ends_of_a_dependency_lead_to_each_other(operator, pull, world):
    first = world.merged
    row = depends(pull, first)
    assert f'<a href="{address(first)}">{first.key}</a>' in text(operator.get(f"{address(pull)}?tab=merge"))
    waited_for = f'Waiting for this one: <a href="{address(pull)}">{pull.key}</a>'
    assert waited_for in text(operator.get(f"{address(first)}?tab=merge"))
    Dependency.objects.filter(pk=row.pk).update(standing="clear")
    assert "Waiting for this one" not in text(operator.get(f"{address(first)}?tab=merge"))


def test_a_chain_is_shown_in_the_order_in_which_it_lands(operator, pull, waited_for):
    between = PullRequest.objects.filter(is_over__in=[False]).exclude(pk=pull.pk).select_related("repository")[0]
    waited_for.pull = between
    waited_for.save(update_fields=["pull"])
    depends(pull, between)
    page = " ".join(strip_tags(text(operator.get(f"{address(pull)}?tab=merge"))).split())
    assert f"acme/web#399 {between.key} {pull.key}" in page


def test_a_dependency_that_was_never_submitted_here_is_no_link(operator, pull, waited_for):
    page = text(operator.get(f"{address(pull)}?tab=merge"))
    assert waited_for.reference in page
    assert "/pull-requests/acme/web/399/" not in page


def test_dropping_without_a_reason_changes_nothing_and_says_what_is_missing(operator, pull, waited_for):
    response = operator.post(f"{address(pull)}drop-dependency/?tab=merge", key="501#399", reason=" ")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert "Say why the dependency is dropped." in text(response)
    waited_for.refresh_from_db()
    assert waited_for.dropped_at is None


def test_a_lane_is_shown_and_may_be_passed(operator, pull, world):
    other = PullRequest.objects.get(pk=world.escalated.pk)
    tasks = [Task("a", 0, 0, other), Task("b", 0, 1, pull)]
    lanes_set("plan:1", tasks, [Exclusion("a", "b")])
    page = text(operator.get(f"{address(pull)}?tab=merge"))
    assert "Let it pass" in page
    response = operator.post(f"{address(pull)}pass-lane/?tab=merge", reason="Urgent.")
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert LaneMember.objects.get(name="b").passed_by == "operator:ops-1"
    assert "lets it pass" in text(operator.get(f"{address(pull)}?tab=merge"))


def test_a_viewer_sees_all_of_it_and_changes_nothing(viewer, pull, waited_for):
    assert "Drop…" not in text(viewer.get(f"{address(pull)}?tab=merge"))
    response = viewer.post(f"{address(pull)}drop-dependency/", key="501#399", reason="Mine.")
    assert response.status_code == HTTPStatus.FORBIDDEN
    waited_for.refresh_from_db()
    assert waited_for.dropped_at is None
