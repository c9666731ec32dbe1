import pytest

from merging.models import MergeAttempt
from merging.services.attempts import Plan, attempt_begin
from runs.clock import now
from runs.contract.errors import Refused
from runs.models import HumanTask, Outbox
from tests.db.merging.stage import BRANCH, REPO, in_threads
from tests.db.merging.test_merge_call import ready


def test_a_cancelled_wait_is_abandoned_and_its_question_withdrawn(stage):
    pull = stage.pull_on_forge(draft=True)
    stage.converged(pull)
    stage.settle()
    stage.cancel()

    assert (stage.flow.state, stage.pull.state) == ("abandoned", "abandoned")
    assert stage.edges[-1] == "cancelled"
    assert HumanTask.objects.get().state == "closed"
    assert stage.pull.generations.get().outcome == "cancelled by ann"
    stage.cancel()  # a repeat answers the same
    assert stage.edges.count("cancelled") == 1
    assert pull.state == "OPEN"


def test_a_cancel_before_the_call_keeps_it_from_being_sent(stage):
    """MG-H13: the effect of a cancelled flow is dropped at its fence."""
    ready(stage)
    stage.cancel()
    stage.deliver()

    assert stage.calls() == 0
    assert Outbox.objects.filter(topic="flow.effect").latest("id").observed == {"dropped": "moved_on"}
    assert stage.pull.state == "abandoned"


def test_a_cancel_between_the_reading_and_the_call_keeps_it_from_being_sent(stage):
    """MG-H13: whoever is about to send looks once more under the lock, and finds the flow gone."""
    ready(stage)
    row = stage.flow
    stage.cancel()
    plan = Plan(head=stage.pull.head_sha, method="squash")
    assert attempt_begin(row, plan, entry_log=row.entry_log, now=now()) is None
    assert not MergeAttempt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_cancel_while_the_call_is_on_the_wire_is_refused_and_the_merge_reported(stage):
    """MG-S27, CV-S45: 409 to be tried again, a moment later merged."""
    ready(stage)
    refused = []
    stage.sim.faults.race("merge", then=lambda: refused.extend(in_threads(stage.cancel)))
    stage.deliver()

    assert [(error.code, error.details["retryable"]) for error in refused] == [("merge_in_flight", True)]
    assert stage.outcomes == [("merged", "landed")]
    with pytest.raises(Refused) as error:
        stage.cancel()
    assert error.value.code == "merge_in_flight"  # in the proof of landing too
    stage.settle()
    assert stage.pull.state == "merged"
    with pytest.raises(Refused) as error:
        stage.cancel()
    assert (error.value.code, error.value.details["state"]) == ("already_ended", "merged")


@pytest.mark.django_db(transaction=True)
def test_a_cancel_during_a_merge_that_fails_is_taken_after_its_read_back(stage):
    """CV-S45: refused on the wire with nothing changed; repeated, it abandons."""
    ready(stage)
    refused = []

    def meanwhile():
        refused.extend(in_threads(stage.cancel))
        stage.sim.verbs.push(REPO, BRANCH, {"app.py": "total = 9\n"}, "Meanwhile")

    stage.sim.faults.race("merge", then=meanwhile)
    stage.deliver()
    assert [error.code for error in refused] == ["merge_in_flight"]
    assert stage.calls() == 1
    assert MergeAttempt.objects.get().outcome not in {"", "merged"}
    stage.cancel()
    assert (stage.flow.state, stage.pull.state) == ("abandoned", "abandoned")


def test_a_cancel_after_a_lost_answer_waits_for_the_read_back(stage):
    ready(stage)
    stage.sim.faults.lose_answer("merge")
    stage.deliver()
    assert MergeAttempt.objects.get().outcome == ""

    with pytest.raises(Refused) as error:
        stage.cancel()
    assert error.value.code == "merge_in_flight"
    assert stage.flow.state == "merging"
