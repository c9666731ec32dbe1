"""What polling costs the forge when much waits, and how a burst of deliveries is folded."""

import json
import random

import pytest

from convergence.models import ConvergenceFlow
from runs.clock import now
from runs.flows.looks import flows_pass
from runs.intake.deliveries import delivery_admit
from runs.nudge import register_starter
from tests.db.convergence.many import asked_already, many_waiting


def requests(stage):
    return len(stage.sim.log.entries)


def points(stage):
    return sum(entry.points for entry in stage.sim.log.entries)


def test_a_thousand_that_wait_cost_twenty_two_requests_a_poll(stage):
    """GH-S1: nothing new, one poll, spread over the interval for the next one."""
    asked_already(many_waiting(stage.sim, repositories=50, each=20))
    flows_pass(1000)  # the first one also learns what the server offers
    begun, spent = requests(stage), points(stage)
    ConvergenceFlow.objects.update(due_at=now())
    assert flows_pass(1000) == 1000
    assert requests(stage) - begun <= 22
    assert points(stage) - spent <= 22
    assert not ConvergenceFlow.rows().exclude(last_look_error="").exists()
    due = sorted(at for at in ConvergenceFlow.rows().values_list("due_at", flat=True) if at is not None)
    assert len(due) == 1000
    assert (due[-1] - due[0]).total_seconds() >= 8, "they do not march in step"


@pytest.fixture
def nudged():
    """What commits of this process would wake, counted."""
    names: list[str] = []
    register_starter(names.append)
    yield names
    register_starter(lambda _name: None)


@pytest.mark.django_db(transaction=True)
def test_five_hundred_deliveries_in_two_seconds_cost_a_handful_of_requests(stage, nudged):
    """GH-S26: the first look comes at once, the others share the passes that come anyway."""
    pulls = many_waiting(stage.sim, repositories=5, each=20)
    asked_already(pulls)
    flows_pass(1000)
    stage.passes(minutes=1)
    begun = requests(stage)
    chosen = random.Random(7)
    for number in range(500):
        pull = chosen.choice(pulls)
        payload = {"repository": {"id": pull.repository.forge_id}, "pull_request": {"number": pull.number}}
        body = json.dumps(payload).encode()
        delivery_admit(source="github", delivery_id=f"d{number}", kind="pull_request", payload=payload, body=body)
        if nudged:
            nudged.clear()
            flows_pass()
        elif number % 250 == 249:
            flows_pass()  # the pass that comes each second
    stage.passes(seconds=3)
    flows_pass()
    assert requests(stage) - begun <= 12
    assert ConvergenceFlow.rows().filter(due_at__lte=now()).count() == 0
