"""The lists of pull requests on a long history: a page is read in its order, never sorted out of everything."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from convergence.models import PullRequest, Repository
from convergence.selectors.lists import pulls_listed
from factory_site.console.selectors.pulls import PullFilter, pull_list, pulls_version
from runs.clock import now

pytestmark = pytest.mark.django_db
OVER, ACTIVE = 3000, 150
LISTS = {
    "everything": (pulls_listed, "pull_request_newest"),
    "one state": (lambda: pulls_listed(states=["waiting_review"]), "pull_request_state"),
    "a rare end": (lambda: pulls_listed(states=["abandoned"]), "pull_request_state"),
    "several states": (lambda: pulls_listed(states=["waiting_review", "escalated"]), "pull_request_over"),
    "active page": (lambda: pull_list(PullFilter()), "pull_request_over"),
    "done page": (lambda: pull_list(PullFilter(tab="done")), "pull_request_over"),
    "what the active page shows": (lambda: pulls_version(PullFilter()), "pull_request_over"),
}


@pytest.fixture
def _history():
    """A few that are under way, all of them older than what ended since."""
    at = now()
    home = Repository.objects.create(forge_id=1, owner="acme", name="shop", created_at=at)

    def row(number: int, state: str) -> PullRequest:
        return PullRequest(
            repository=home, number=number, title="T", url="https://forge.example/1", state=state, root="r",
            created_at=at, updated_at=at + timedelta(seconds=number),
        )  # fmt: skip

    rows = [row(number, "waiting_review" if number % 3 else "converging") for number in range(1, ACTIVE)]
    rows += [row(ACTIVE + number, "merged" if number % 300 else "abandoned") for number in range(OVER)]
    PullRequest.objects.bulk_create(rows, batch_size=500)


@pytest.mark.usefixtures("_history")
@pytest.mark.parametrize("analysed", [False, True], ids=["as it grew", "analysed"])
@pytest.mark.parametrize("name", LISTS)
def test_a_page_is_read_by_an_index_in_its_order(name, analysed):
    read, index = LISTS[name]
    if analysed or connection.vendor == "postgresql":  # which gathers statistics by itself
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    plan = plan_of_page(read)
    if connection.vendor == "sqlite":
        assert index in plan
        assert "TEMP B-TREE" not in plan
    else:
        assert "Seq Scan on convergence_pullrequest" not in plan


def plan_of_page(read) -> str:
    with CaptureQueriesContext(connection) as captured:
        read()
    page = next(each["sql"] for each in captured.captured_queries if 'FROM "convergence_pullrequest"' in each["sql"])
    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} {page}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.usefixtures("_history")
def test_states_of_both_sides_are_listed_together():
    page = pulls_listed(states=["converging", "abandoned"], limit=200)
    assert {row.state for row in page.items} == {"converging", "abandoned"}


def test_what_is_over_follows_the_state():
    at = now()
    home = Repository.objects.create(forge_id=1, owner="acme", name="shop", created_at=at)
    pull = PullRequest.objects.create(
        repository=home, number=1, title="T", url="https://forge.example/1", state="converging", root="r",
        created_at=at, updated_at=at,
    )  # fmt: skip
    assert pull.is_over is False
    PullRequest.objects.filter(pk=pull.pk).update(state="abandoned")
    assert PullRequest.objects.filter(is_over__in=[True]).get() == pull
