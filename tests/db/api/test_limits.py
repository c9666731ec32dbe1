"""Pauses and budgets over HTTP: what is set, who set it and why, and what each refusal says."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.models import BudgetRaise, Pause
from tests import queue_driver
from tests.db.api.conftest import error
from tests.site_policy import edited_policy

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db):  # noqa: ARG001 - it opens the database
    queue_driver.load_definitions()
    return queue_driver.enqueue(budget={"usd": 2})


def test_a_pause_is_set_listed_and_lifted_with_who_and_why(operator, viewer):
    name = operator.token.user.get_username()
    body = {"scope": "repository", "key": "acme/shop", "reason": "release freeze"}
    made = operator.post("/api/v1/pauses", body).json()
    assert (made["scope"], made["key"], made["by"], made["liftedAt"]) == (
        "repository",
        "acme/shop",
        f"operator:{name}",
        None,
    )
    assert viewer.get("/api/v1/pauses").json() == {"items": [made], "nextBefore": None}
    lifted = operator.post(f"/api/v1/pauses/{made['id']}/lift", {"reason": "shipped"}).json()
    assert (lifted["liftedBy"], lifted["liftReason"]) == (f"operator:{name}", "shipped")
    assert error(operator.post(f"/api/v1/pauses/{made['id']}/lift"), 409)["code"] == "already_ended"
    assert viewer.get("/api/v1/pauses?inForce=true").json()["items"] == []
    assert error(operator.post("/api/v1/pauses/999/lift"), 404)["code"] == "unknown_pause"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"scope": "global"}, "reason_required", "reason"),
        ({"scope": "planet", "reason": "r"}, "invalid_field", "scope"),
        ({"scope": "agent", "reason": "r"}, "invalid_field", "key"),
        ({"scope": "global", "reason": "r", "until": "soon"}, "invalid_field", "until"),
        ({"scope": "global", "reason": "r", "until": "2020-01-01T00:00:00Z"}, "invalid_field", "until"),
        ({"scope": "global", "reason": "r", "colour": "red"}, "invalid_field", "colour"),
    ],
)
def test_a_wrong_pause_names_its_field(operator, body, code, field):
    found = error(operator.post("/api/v1/pauses", body), 400)
    assert (found["code"], found["details"]["field"]) == (code, field)
    assert not Pause.objects.exists()


def test_a_pause_may_have_an_end(operator):
    until = (now() + timedelta(hours=1)).replace(microsecond=0)
    made = operator.post("/api/v1/pauses", {"scope": "global", "reason": "night", "until": until.isoformat()}).json()
    assert made["until"] == until.isoformat().replace("+00:00", "Z")
    assert Pause.objects.get().until == until


def test_each_budget_is_shown_with_spent_reserved_and_raised(operator, run):
    with edited_policy(
        "budgets: {perDay: {usd: 10, tokens: 1000}, perSubject: {usd: 5}}\nlimits: {perAgent: {pr-review: 1}}"
    ):
        attempt = queue_driver.claim()
        queue_driver.beat(attempt, "running", 1, usage={"costUsd": 0.5, "inputTokens": 100})
        raised = operator.post("/api/v1/budgets/raise", {"scope": "run", "key": run.run_id, "usd": 1.5, "reason": "r"})
        assert raised.json() == {
            "usd": 1.5,
            "tokens": None,
            "reason": "r",
            "by": f"operator:{operator.token.user.get_username()}",
            "at": raised.json()["at"],
        }
        document = operator.get("/api/v1/budgets").json()
    day, subject, own = document["items"]
    assert (day["scope"], day["limit"], day["spent"], day["reserved"], day["left"]) == (
        "day",
        {"usd": 10, "tokens": 1000},
        {"usd": 0.5, "tokens": 100},
        {"usd": 3.0, "tokens": 0},
        {"usd": 6.5, "tokens": 900},
    )
    assert (subject["key"], subject["percent"], subject["reached"]) == (run.subject, 70, False)
    assert (own["key"], own["raised"], own["raises"]) == (run.run_id, {"usd": 1.5, "tokens": 0}, [raised.json()])
    assert document["caps"] == [
        {"code": "agent_full", "name": "pr-review", "node": None, "limit": 1, "used": 1, "held": 0}
    ]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"scope": "day", "usd": 1}, 400, "reason_required"),
        ({"scope": "day", "usd": 0, "reason": "r"}, 400, "invalid_field"),
        ({"scope": "day", "usd": "much", "reason": "r"}, 400, "invalid_field"),
        ({"scope": "day", "reason": "r"}, 400, "invalid_field"),
        ({"scope": "run", "key": "run_x", "usd": 1, "reason": "r"}, 404, "unknown_run"),
        ({"scope": "subject", "key": "acme/no#1", "usd": 1, "reason": "r"}, 404, "unknown_subject"),
    ],
)
def test_a_wrong_raise_is_refused_and_changes_nothing(operator, body, status, code):
    assert error(operator.post("/api/v1/budgets/raise", body), status)["code"] == code
    assert not BudgetRaise.objects.exists()
