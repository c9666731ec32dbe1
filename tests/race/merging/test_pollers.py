import threading

from django.db import transaction

from merging.effects.merge import merge_effect
from merging.models import MergeFlow
from runs.clock import now
from runs.contract.errors import Refused
from runs.flows.looks import flows_pass
from runs.flows.registry import EffectCall
from runs.models import Outbox
from runs.outbox.dispatch import outbox_pass
from tests.db.merging.stage import in_threads


def due():
    MergeFlow.rows().filter(due_at__isnull=False).update(due_at=now())
    Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True).update(available_at=now(), claimed_until=None)


def test_two_pollers_and_two_deliverers_make_one_call(stage):
    """MG-S26: the same end and one merge call, however many look and deliver at once; MG-H6."""
    pull = stage.converged(stage.pull_on_forge())
    for _ in range(8):
        due()
        results = in_threads(flows_pass, flows_pass, outbox_pass, outbox_pass)
        assert [result for result in results if isinstance(result, Exception)] == []
        if stage.pull.state == "merged":
            break

    assert stage.pull.state == "merged"
    assert stage.calls() == 1
    assert stage.outcomes == [("merged", "landed")]
    assert stage.edges == ["started", "dependencies_clear", "merge_begun", "merge_landed", "landing_proven"]
    assert len(stage.events) == 1
    assert pull.state == "MERGED"


def test_two_ready_pull_requests_of_one_base_never_merge_together(stage):
    """MG-H10: whatever the pollers do, one flow of a base is in merging; the other waits, and lands after it."""
    one, two = stage.pull_on_forge("feat/one"), stage.pull_on_forge("feat/two")
    stage.converged(one)
    stage.converged(two)
    for _ in range(10):
        due()
        in_threads(flows_pass, flows_pass)
        assert MergeFlow.rows().filter(state="merging").count() <= 1
        due()
        outbox_pass()
    assert {one.state, two.state} == {"MERGED"}
    assert stage.calls() == 2


def test_a_waiting_neighbour_looks_as_soon_as_the_base_is_free(stage):
    one, two = stage.pull_on_forge("feat/one", draft=True), stage.pull_on_forge("feat/two", draft=True)
    stage.converged(one)
    stage.converged(two)
    stage.settle()
    stage.sim.verbs.edit(one, draft=False)
    stage.sim.verbs.edit(two, draft=False)
    for _ in range(4):
        due_flows = MergeFlow.rows().filter(due_at__isnull=False)
        due_flows.update(due_at=now())
        flows_pass()
        merging = MergeFlow.rows().filter(state="merging").first()
        waiting = MergeFlow.rows().filter(held_reason="base_busy").first()
        if merging and waiting:
            break
    assert merging is not None
    assert waiting is not None
    assert waiting.due_at is not None
    assert waiting.due_at > now()

    stage.deliver()
    waiting.refresh_from_db()
    assert waiting.due_at is not None
    assert waiting.due_at <= now()


def test_a_second_claim_of_the_base_is_refused_by_the_table(stage):
    one, two = stage.pull_on_forge("feat/one"), stage.pull_on_forge("feat/two", draft=True)
    stage.converged(two)
    stage.converged(one)
    for _ in range(4):
        stage.look()
    first, second = MergeFlow.rows().get(state="merging"), MergeFlow.rows().exclude(state="merging").get()
    assert (first.repository_id, first.base_ref) == (second.repository_id, "main")
    stage.sim.verbs.edit(two, draft=False)
    for _ in range(4):
        MergeFlow.rows().filter(pk=second.pk).update(due_at=now())
        flows_pass()
    second.refresh_from_db()
    assert (second.state, second.held_reason) == ("waiting_merge", "base_busy")


def test_one_effect_in_two_hands_makes_one_call(stage):
    """MG-S26: a delivery that was claimed again while the first consumer still reads sends nothing."""
    stage.converged(stage.pull_on_forge())
    for _ in range(4):
        stage.look()
    row = stage.flow
    call = EffectCall(
        name="merge",
        arguments={"head": row.verdict_head, "base": row.base_ref},
        row=row,
        generation=row.generation,
        log=row.entry_log,
        key="",
        repeated=True,
    )
    both_read = threading.Barrier(2, timeout=30)

    def deliver():
        both_read.wait()
        return merge_effect(call)

    in_threads(deliver, deliver)
    assert stage.calls() == 1
    assert len(stage.attempts) == 1
    stage.settle()
    assert (stage.pull.state, stage.calls()) == ("merged", 1)


def test_a_cancel_and_the_call_never_both_win(stage):
    """MG-H13: either the cancel is refused and the pull request lands, or it is abandoned and nothing was sent."""
    stage.converged(stage.pull_on_forge())
    for _ in range(4):
        stage.look()
    assert stage.flow.state == "merging"
    due()
    _, cancelled = in_threads(outbox_pass, stage.cancel)

    if isinstance(cancelled, Refused):
        stage.settle()
        assert (stage.pull.state, stage.calls()) == ("merged", 1)
    else:
        assert (stage.pull.state, stage.calls()) == ("abandoned", 0)


def test_no_call_to_the_forge_inside_a_transaction(stage):
    """CV-H23 holds for merging: a look inside one asks GitHub nothing, records why, and moves nothing."""
    stage.converged(stage.pull_on_forge())
    before = stage.edges
    MergeFlow.rows().filter(due_at__isnull=False).update(due_at=now())
    with transaction.atomic():
        flows_pass()
    assert stage.edges == before
    assert "inside a transaction" in stage.flow.last_look_error
    stage.look()
    assert stage.edges != before
