from convergence.models import Round
from convergence.selectors.detail import pull_detail


def test_a_review_is_worked_reviewed_again_and_converges(stage):
    """CV-S1: one round, then a clean review leads to the gate without another agent run."""
    pull = stage.pull_on_forge()
    first = stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Name it."}])
    thread = pull.threads[-1]
    assert first.id
    stage.submit(pull, auto_merge=False)
    stage.settle()
    assert stage.flow.state == "review_round"
    assert [item["id"] for item in stage.turn.backlog["threads"]] == [thread.node_id]

    stage.push()
    stage.agent(
        {
            "status": "addressed",
            "summary": "Named.",
            "threads": [{"id": thread.node_id, "reply": "Done.", "resolve": True}, {"id": "foreign", "reply": "x"}],
        }
    )
    stage.settle()
    assert stage.flow.state == "await_review"
    assert stage.pull.state == "waiting_review"
    assert stage.sim.verbs.expect_reply(thread, "Done.")
    assert thread.is_resolved

    stage.review(pull, clean=True)
    stage.settle()
    assert stage.edges == [
        "submitted",
        "entry_captured",
        "turn_addressed",
        "progressed",
        "empty_review_arrived",
        "gate_passed",
    ]
    assert stage.pull.state == "converged"
    assert "submitted for review only" in str(pull_detail(stage.pull).rests_because)
    assert Round.objects.count() == 1
