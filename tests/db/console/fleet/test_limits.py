"""The page of pauses and limits: what it shows, and what its forms do and refuse."""

import re
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import unquote

import pytest

from runs.models import BudgetRaise, HumanTask, Pause, Run, Spend, SpendScope
from runs.queue.limits.pauses import pause_set
from runs.queue.limits.upkeep import limits_pass
from runs.reading.limits import budget_row
from tests import queue_driver as queue
from tests.site_policy import edited_policy

pytestmark = pytest.mark.django_db


def words(response):
    html = response.content.decode()
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", html, flags=re.DOTALL).split())


def form_of(scope, key=""):
    """The hidden fields of the form that raises this limit, as the page prints them."""
    row = budget_row(scope, key)
    return {"scope": scope, "key": row.key, "seen": row.seen}


def test_a_repository_is_paused_and_every_page_says_so_until_it_is_lifted(operator, viewer, fleet):
    """RU-S17, CO-H15: who paused what and why stands on top of every page, and in the list of acts."""
    sent = operator.post("/pauses/", scope="repository", key="acme/shop", reason="release freeze")
    assert (sent.status_code, sent["Location"]) == (HTTPStatus.SEE_OTHER, "/pauses/")
    row = Pause.objects.get(lifted_at=None)
    assert (row.actor, row.reason) == ("operator:ops-1", "release freeze")
    for path in ("/", "/runs/", "/pull-requests/", "/tasks/"):
        page = viewer.get(path)
        assert "Claims are paused for acme/shop: “release freeze”, by ops-1. Lift…" in words(page), path
    listed = words(operator.get("/runs/"))
    assert "Paused" in listed
    assert "acme/shop is paused since" in listed
    banner = {"sentence": "Claims are paused for acme/shop: “release freeze”, by ops-1.", "address": "/pauses/"}
    (told,) = operator.get("/pulse/").json()["banners"]
    assert banner.items() <= told.items()
    assert operator.post(f"/pauses/{row.pk}/lift/").status_code == HTTPStatus.SEE_OTHER
    page = words(operator.get("/pauses/"))
    assert "Nothing is paused." in page
    assert "lifted the pause of acme/shop ops-1" in page
    assert "Claims are paused" not in words(operator.get("/runs/"))
    assert fleet.running.run_id


def test_the_banner_names_the_pause_that_covers_most(operator):
    for scope, key in (("agent", "pr-review"), ("global", "")):
        pause_set(scope=scope, key=key, reason="night", actor="operator:maria")
    assert "Claims are paused for everything: “night”, by maria (and 1 more)." in words(operator.get("/"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"scope": "repository", "key": "shop", "reason": "freeze"}, "key is a repository as owner/repo"),
        ({"scope": "repository", "key": "acme/shop", "reason": " "}, "Say why"),
        ({"scope": "global", "reason": "night", "until": "2020-01-01T00:00"}, "until lies in the future"),
        ({"scope": "global", "reason": "night", "until": "soon"}, "Until is a date and a time; you typed soon"),
    ],
)
def test_a_wrong_pause_keeps_what_was_typed(operator, fields, sentence):
    """CO-H14"""
    response = operator.post("/pauses/", **fields)
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert sentence in words(response)
    assert f'value="{fields["reason"]}"' in response.content.decode()
    assert not Pause.objects.exists()


def test_a_pause_may_be_given_an_end_in_the_zone_of_the_page(operator):
    operator.client.cookies["zone"] = "Europe/Berlin"
    operator.post("/pauses/", scope="global", reason="night", until="2099-01-01T12:00")
    assert Pause.objects.get().until == datetime(2099, 1, 1, 11, tzinfo=UTC)


def test_a_viewer_reads_and_changes_nothing(viewer, fleet):
    """CO-H8"""
    row = pause_set(scope="global", reason="night", actor="operator:maria")
    page = viewer.get("/pauses/")
    assert page.status_code == HTTPStatus.OK
    assert 'action="/pauses/' not in page.content.decode()
    subject = {**form_of("subject", fleet.running.subject), "usd": "1", "reason": "r", "confirm": "x"}
    before = BudgetRaise.objects.count()
    sent = [
        viewer.post("/pauses/", scope="global", reason="r"),
        viewer.post(f"/pauses/{row.pk}/lift/"),
        viewer.post("/budgets/raise/", **subject),
    ]
    assert [response.status_code for response in sent] == [HTTPStatus.FORBIDDEN] * 3
    assert (Pause.objects.count(), BudgetRaise.objects.count()) == (fleet_pauses() + 1, before)


def fleet_pauses():
    return Pause.objects.exclude(lifted_at=None).count()


def test_a_budget_is_raised_by_whoever_types_its_subject(operator, fleet):
    """RU-S25"""
    key = fleet.running.subject
    form = {**form_of("subject", key), "usd": "2.50", "reason": "a hard case", "confirm": fleet.running.subject_label}
    before = BudgetRaise.objects.count()
    assert operator.post("/budgets/raise/", **form).status_code == HTTPStatus.SEE_OTHER
    row = BudgetRaise.objects.latest("id")
    assert (row.key, row.cost_micro_usd, row.actor, row.reason) == (key, 2_500_000, "operator:ops-1", "a hard case")
    page = words(operator.get("/budgets/"))
    assert f"raised the budget of {fleet.running.subject_label} by $2.50 ops-1 a hard case" in page
    again = operator.post("/budgets/raise/", **form)
    assert again.status_code == HTTPStatus.CONFLICT, "the limit is another one by now"
    assert BudgetRaise.objects.count() == before + 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"confirm": ""}, "Type today to confirm."),
        ({"confirm": "tomorrow"}, "Type today to confirm; you typed tomorrow."),
        ({"reason": ""}, "Say why"),
        ({"usd": "much"}, "Dollars are a number such as 25 or 2.50; you typed much."),
        ({"usd": ""}, "name what is added"),
        ({"scope": "planet"}, "This form is incomplete"),
    ],
)
def test_a_raise_that_lacks_something_changes_nothing(operator, changes, sentence):
    """CO-H14"""
    form = {**form_of("day"), "usd": "5", "reason": "release", "confirm": "today", **changes}
    response = operator.post("/budgets/raise/", **form)
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert sentence in words(response)
    assert not BudgetRaise.objects.exists()


def only_these_runs():
    """The world's own runs would be claimed first, and their cost counts."""
    Run.objects.filter(state="queued").delete()
    Spend.objects.all().delete()
    queue.load_definitions()


def test_limits_show_what_they_use_and_hold(operator):
    only_these_runs()
    text = "budgets: {perDay: {usd: 1, tokens: 1000}}\nlimits: {perAgent: {pr-review: 1}}"
    with edited_policy(text):
        queue.enqueue()
        attempt = queue.claim()
        queue.beat(attempt, "running", 1, usage={"costUsd": 1.5, "inputTokens": 10})
        queue.enqueue()
        page = words(operator.get("/pauses/"))
        assert "today Budget reached" in page
        assert "$1.50 of $1.00" in page
        assert "10 of 1,000 tokens" in page
        assert "agent pr-review 1 of 1 1 run" in page


def test_a_spent_budget_asks_a_person_and_its_page_leads_to_the_raise(operator):
    only_these_runs()
    with edited_policy("budgets: {perDay: {usd: 1}}"):
        queue.enqueue()
        attempt = queue.claim()
        queue.publish(attempt, queue.completed_body(attempt, execution=queue.execution(usage={"costUsd": 0.9})))
        limits_pass()
        task = HumanTask.objects.get(kind="budget_warning")
        page = operator.get(f"/tasks/{task.pk}/")
        assert "Budget runs out" in words(page)
        assert "is used to 90 %: 0.90 of 1 USD. Raise it?" in words(page)
        assert "/budgets/" in page.content.decode()
        sent = operator.post(f"/tasks/{task.pk}/complete/", decision="dismiss", seen=task.seen_hash)
        assert sent.status_code == HTTPStatus.SEE_OTHER


def test_each_limited_budget_leads_to_the_form_that_raises_it(operator, viewer, fleet):
    page = operator.get("/pauses/").content.decode()
    row = budget_row(SpendScope.SUBJECT, fleet.running.subject)
    (address,) = [
        each for each in re.findall(r'href="(/pauses/\?raise=[^"#]+)#raise"', page) if row.key in unquote(each)
    ]
    assert 'action="/budgets/raise/"' not in page
    form = operator.get(address).content.decode()
    assert form.count('action="/budgets/raise/"') == 1
    assert f'name="seen" value="{row.seen}"' in form
    assert 'action="/budgets/raise/"' not in viewer.get(address).content.decode()
