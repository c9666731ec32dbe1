"""Pausing, resuming and raising from a shell: the same services, the same audit."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.models import BudgetRaise, Pause
from tests import queue_driver as queue
from tests.db.commands.conftest import manage, refused

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shell():
    queue.load_definitions()


def test_a_repository_is_paused_and_resumed():
    """RU-S17"""
    told = manage("runs", "pause", "--repository", "acme/shop", "--reason", "release freeze")
    assert "acme/shop is paused since" in told
    assert told.endswith("lift it with: manage.py runs resume --repository acme/shop\n")
    assert manage("runs", "resume", "--repository", "ACME/shop", "--reason", "shipped") == (
        "acme/shop goes on: the pause was lifted\n"
    )
    row = Pause.objects.get()
    assert (row.actor, row.lifted_by, row.lift_reason) == ("operator:dana@cli", "operator:dana@cli", "shipped")
    assert "paused now: nothing; see: manage.py status" in refused("runs", "resume", "--repository", "acme/shop")


def test_everything_is_paused_for_a_time():
    at = now()
    assert "everything is paused" in manage("runs", "pause", "--until", "4h", "--reason", "night")
    until = Pause.objects.get().until
    assert until is not None
    assert timedelta(hours=4) <= until - at < timedelta(hours=5)
    until = (at + timedelta(days=2)).replace(microsecond=0)
    manage("runs", "pause", "--until", until.strftime("%Y-%m-%dT%H:%M:%SZ"), "--reason", "longer")
    assert Pause.objects.get(lifted_at=None).until == until


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("--until", "soon", "--reason", "r"), "write an instant such as"),
        (("--until", "9999999d", "--reason", "r"), "write an instant such as"),
        (("--until", "2020-01-01T00:00:00Z", "--reason", "r"), "until lies in the future"),
        (("--repository", "shop", "--reason", "r"), "key is a repository as owner/repo"),
        (("--reason", " "), "Say why"),
    ],
)
def test_a_wrong_pause_is_one_line_that_says_what_to_write(argv, sentence):
    assert sentence in refused("runs", "pause", *argv)
    assert not Pause.objects.exists()


def test_the_budgets_of_day_subject_and_run_are_raised():
    """RU-S25"""
    run = queue.enqueue(budget={"usd": 1})
    assert manage("runs", "raise", "--day", "--usd", "2.50", "--reason", "release") == (
        "raised; 0 of 202.50 USD used now\n"
    )
    assert "0 of 51 USD" in manage("runs", "raise", "--subject", run.subject, "--usd", "1", "--reason", "hard case")
    assert "0 of 3 USD" in manage("runs", "raise", "--run", run.run_id, "--usd", "2", "--reason", "long log")
    rows = [(row.scope, row.key, row.actor, row.reason) for row in BudgetRaise.objects.order_by("id")]
    assert rows == [
        ("day", now().date().isoformat(), "operator:dana@cli", "release"),
        ("subject", run.subject, "operator:dana@cli", "hard case"),
        ("run", run.run_id, "operator:dana@cli", "long log"),
    ]


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("--day", "--usd", "much", "--reason", "r"), "--usd 'much' is no number of dollars"),
        (("--day", "--usd", "nan", "--reason", "r"), "is no number of dollars"),
        (("--day", "--reason", "r"), "name what is added"),
        (("--day", "--tokens", "5", "--reason", "r"), "budgets.perDay in policy.yaml sets none"),
        (("--run", "run_x", "--usd", "1", "--reason", "r"), "There is no run run_x; see: manage.py runs list"),
        (("--usd", "1", "--reason", "r"), "required"),
    ],
)
def test_a_wrong_raise_is_one_line_that_says_what_to_write(argv, sentence):
    assert sentence in refused("runs", "raise", *argv)
    assert not BudgetRaise.objects.exists()
