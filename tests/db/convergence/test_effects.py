"""What leaves for GitHub happens once, and only for a submission that is still wanted."""

from convergence.models import ReviewRequest
from runs.models import Outbox
from tests.db.convergence.stage import waiting


def died_before_record(row):
    """The process that delivered the row was killed after the call: it is delivered again, knowing nothing."""
    Outbox.objects.filter(pk=row.pk).update(done_at=None, observed={}, tries=1, claimed_until=None)


def test_a_request_is_sent_once_when_the_process_dies_before_its_record(stage):
    """CV-S44: the read-back of the next try finds it pending."""
    pull = waiting(stage)
    stage.sim.faults.lose_answer("request_review")
    stage.look()
    stage.effects()
    assert ReviewRequest.objects.get().outcome == "requested"
    died_before_record(Outbox.objects.get(topic="flow.effect"))
    stage.effects()
    assert ReviewRequest.objects.get().outcome == "requested"
    assert stage.sim.log.count("request_review") == 1
    assert len(pull.requested) == 1


def test_a_cancel_stops_effects_that_have_not_left(stage):
    """CV-H20: a pending request is dropped at its fence."""
    from convergence.services.cancel import pull_cancel

    waiting(stage)
    stage.look()
    assert Outbox.objects.filter(topic="flow.effect", done_at=None).count() == 1
    pull_cancel(pull=stage.pull, actor="operator:ann")
    stage.effects()
    assert stage.sim.log.count("request_review") == 0
    assert Outbox.objects.get(topic="flow.effect").observed == {"dropped": "generation_ended"}


def test_replies_appear_once_although_their_answers_were_lost(stage):
    """CV-S43 for threads: what is there already is found by its marker, whenever the process died."""
    pull = stage.pull_on_forge()
    stage.review(
        pull, threads=[{"path": "app.py", "line": 1, "text": "One."}, {"path": "app.py", "line": 1, "text": "Two."}]
    )
    stage.submit(pull)
    stage.settle()
    ids = [thread.node_id for thread in pull.threads]
    stage.push()
    stage.sim.faults.lose_answer("reply")
    stage.agent({"status": "addressed", "threads": [{"id": each, "reply": "Done.", "resolve": True} for each in ids]})
    stage.settle(8)
    for row in Outbox.objects.filter(topic="flow.effect", payload__effect__in=["reply", "resolve"]):
        died_before_record(row)
    stage.effects()
    for thread in pull.threads:
        assert stage.sim.verbs.expect_reply(thread, "Done.")
        assert len(thread.comments) == 2
        assert thread.is_resolved
    assert stage.sim.verbs.doubled() == []
