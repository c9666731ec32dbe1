"""The run's machine as it is stored: every pair of edge and state, walks, and chains that are tampered with."""

from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.clock import now
from runs.flow import AT_REST, HELD, RUN_MACHINE
from runs.models import JournalRow, Receipt, Result, Run, RunSpec
from runs.queue.audit import journal_faults
from runs.queue.cancel import run_cancel
from runs.queue.journal import Step, TransitionRefused, Walk, run_move
from tests.queue_driver import beat, claim, completed_body, enqueue, failed_body, publish, release_backoff

ACTORS = {
    "worker": "worker:lab.20260830T121502Z.000001",
    "operator": "operator:ann",
    "flow": "flow:convergence:pull-request:1:2",
    "gate": "edge:ci.diagnose",
}
PAIRS = [(edge.name, state) for edge in RUN_MACHINE.edges if edge.sources for state in RUN_MACHINE.values]


def actor_for(edge):
    return ACTORS.get(edge.actors[0], edge.actors[0])


def put_in(run, state):
    """Place the row in a state with the columns that the state demands, past the machine."""
    columns = {"state": state, "hold": "", "ended_at": now() if state in AT_REST else None}
    if state in HELD:
        columns |= {"attempt_number": 1, "fencing_token": 1}
    Run.objects.filter(pk=run.pk).update(**columns)
    run.refresh_from_db()


@pytest.mark.parametrize(("name", "state"), PAIRS)
def test_every_pair_of_edge_and_state_moves_with_one_row_or_is_refused_with_none(name, state):
    """RU-H5, RU-H6"""
    run = enqueue()
    put_in(run, state)
    edge = RUN_MACHINE.edge(name)
    step = Step(actor_for(edge), "because", now())
    columns = {"attempt_number": 1, "fencing_token": 1} if edge.target in HELD else {}
    before = JournalRow.objects.count()
    if state in edge.sources:
        run_move(run, name, step, **columns)
        row = JournalRow.objects.latest("id")
        assert (row.edge, row.from_state, row.to_state) == (name, state, edge.target)
        assert JournalRow.objects.count() == before + 1
    else:
        with pytest.raises(TransitionRefused):
            run_move(run, name, step, **columns)
        assert JournalRow.objects.count() == before
    run.refresh_from_db()
    assert run.state == (edge.target if state in edge.sources else state)


@pytest.mark.parametrize("edge", [edge for edge in RUN_MACHINE.edges if edge.sources], ids=lambda edge: edge.name)
def test_an_edge_is_refused_to_everybody_the_table_does_not_name(edge):
    """RU-H6"""
    run = enqueue()
    put_in(run, edge.sources[0])
    strangers = {"worker", "reaper", "operator", "flow", "planner", "sweep", "gate", "retry_rule"} - set(edge.actors)
    for stranger in strangers:
        with pytest.raises(TransitionRefused):
            run_move(run, edge.name, Step(ACTORS.get(stranger, stranger), "because", now()))
    run.refresh_from_db()
    assert run.state == edge.sources[0]


def test_a_move_from_a_row_that_somebody_else_moved_is_refused():
    run = enqueue()
    stale = Run.objects.get(pk=run.pk)
    run_cancel(run=run, code="operator_cancel", actor="operator:ann")
    with pytest.raises(TransitionRefused):
        run_move(stale, "cancel", Step("operator:bob", "operator_cancel", now()))
    assert JournalRow.objects.filter(run=run).count() == 2


def test_edges_taken_together_are_written_at_once_and_their_rows_are_chained(django_assert_num_queries):
    """RU-H5, RU-H6"""
    run = enqueue()
    attempt = claim()
    run.refresh_from_db()
    walk = Walk(run)
    for edge in ("start", "verify"):
        walk.take(edge, Step(ACTORS["worker"], "because", now(), attempt))
    with pytest.raises(TransitionRefused):
        walk.take("start", Step(ACTORS["worker"], "because", now(), attempt))
    with django_assert_num_queries(2):
        walk.write()
    run.refresh_from_db()
    rows = list(JournalRow.objects.filter(run=run).order_by("seq"))
    assert [row.edge for row in rows] == ["enqueue", "claim", "start", "verify"]
    assert (run.state, run.journal_seq, run.journal_head) == ("verifying", 4, rows[-1].record_hash)
    assert list(journal_faults(run_id=run.run_id)) == []


def test_edges_of_a_run_that_somebody_else_moved_leave_row_and_loaded_run_as_they_were():
    run = enqueue()
    attempt = claim()
    stale = Run.objects.get(pk=run.pk)
    run_cancel(run=run, code="operator_cancel", actor="operator:ann")
    walk = Walk(stale)
    walk.take("start", Step(ACTORS["worker"], "because", now(), attempt))
    walk.take("verify", Step(ACTORS["worker"], "because", now(), attempt))
    with pytest.raises(TransitionRefused):
        walk.write()
    assert (stale.state, stale.journal_seq) == ("leased", 2)
    assert [row.edge for row in JournalRow.objects.filter(run=run).order_by("seq")] == ["enqueue", "claim", "cancel"]


def acts():
    return st.lists(st.sampled_from(["claim", "run", "verify", "complete", "crash", "drain", "cancel"]), max_size=14)


@given(acts(), st.integers(0, 3))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_walk_leaves_a_connected_path_whose_chain_verifies(steps, attempts):
    """RU-H1, RU-H5, RU-H11"""
    run = enqueue(maxAttempts=attempts + 1)
    for sequence, step in enumerate(steps, start=1):
        attempt = run.attempts.filter(finished_at=None).first()
        if step == "claim" and attempt is None:
            release_backoff(run)
            run.refresh_from_db()
            if run.state == "queued":
                claim()
        elif step == "cancel":
            if run.state not in AT_REST:
                run_cancel(run=run, code="operator_cancel", actor="operator:ann")
        elif attempt is not None:
            speak(attempt, step, sequence)
        run.refresh_from_db()
        unfinished = run.attempts.filter(finished_at=None).count()
        assert unfinished == (1 if run.state in HELD else 0)
    assert run.agent_error_failures <= run.max_attempts
    assert list(journal_faults(run_id=run.run_id)) == []
    Run.objects.filter(pk=run.pk, state="queued").update(
        hold="exclusive", available_at=None
    )  # out of the way of the next example
    if run.state in HELD:
        run_cancel(run=run, code="operator_cancel", actor="operator:ann")


def speak(attempt, step, sequence):
    if step == "complete":
        publish(attempt, completed_body(attempt))
    elif step == "crash":
        publish(attempt, failed_body(attempt))
    elif step == "drain":
        publish(attempt, failed_body(attempt, "drain_timeout"))
    elif step == "run" and attempt.phase == "leased":
        beat(attempt, "running", sequence)
    elif step == "verify" and attempt.phase in {"leased", "running"}:
        beat(attempt, "verifying", sequence)


def a_completed_run():
    run = enqueue()
    attempt = claim()
    publish(attempt, completed_body(attempt))
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"reason_code": "better"}, "altered"),
        ({"actor": "operator:eve"}, "altered"),
        ({"detail_json": '{"x":1}'}, "altered"),
        ({"detail_json": "{"}, "altered"),
        ({"prev_hash": "sha256:" + "0" * 64}, "broken_chain"),
        ({"seq": 77}, "gap"),
    ],
)
def test_a_journal_row_that_was_changed_by_hand_is_named(changes, fault):
    """RU-S21"""
    run = a_completed_run()
    JournalRow.objects.filter(run=run, seq=3).update(**changes)
    named = {(found.seq, found.kind) for found in journal_faults()}
    assert (3, fault) in named
    printed = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("verify_journal", "--run", run.run_id, stdout=printed)
    assert ended.value.code == 1
    assert printed.getvalue().startswith(f"{run.run_id} ")


def test_a_row_a_state_a_specification_or_a_receipt_that_is_out_of_step_is_named():
    run = a_completed_run()
    assert list(journal_faults()) == []
    out = StringIO()
    call_command("verify_journal", stdout=out)
    assert "verifies" in out.getvalue()
    last = JournalRow.objects.filter(run=run).latest("seq")
    Receipt.objects.filter(run=run).update(receipt_hash="sha256:" + "0" * 64)
    assert {fault.kind for fault in journal_faults()} == {"receipt_altered", "receipt_not_bound"}
    Receipt.objects.filter(run=run).delete()
    assert {fault.kind for fault in journal_faults()} == {"receipt_missing"}
    last.delete()
    assert {fault.kind for fault in journal_faults()} == {"head_differs", "state_differs"}
    run.spec_row.canonical = run.spec_row.canonical.replace("feat/total", "feat/evil")
    run.spec_row.save()
    assert "spec_differs" in {fault.kind for fault in journal_faults()}


@pytest.mark.parametrize(
    ("table", "canonical", "faults"),
    [
        (Result, '{"artifact": {"verdict": "PASS"}, "evidence": null}', {"artifact_altered"}),
        (Result, "{", {"artifact_altered"}),
        (Receipt, "[]", {"receipt_altered", "artifact_altered"}),
        (RunSpec, "{", {"spec_differs"}),
    ],
)
def test_a_document_that_was_changed_by_hand_is_named(table, canonical, faults):
    table.objects.filter(run=a_completed_run()).update(canonical=canonical)
    assert {fault.kind for fault in journal_faults()} == faults


def test_a_result_that_is_gone_is_named():
    Result.objects.filter(run=a_completed_run()).delete()
    assert {fault.kind for fault in journal_faults()} == {"result_missing"}


def test_a_queued_run_needs_nothing_but_its_rows_to_verify():
    """RU-H10"""
    run = enqueue()
    assert run.spec_row.document["runId"] == run.run_id
    assert run.journal_head == JournalRow.objects.get(run=run).record_hash
    assert JournalRow.objects.get(run=run).prev_hash == run.spec_hash
