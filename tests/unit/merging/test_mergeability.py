from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.forge.checks import Rollup, check_rollup
from convergence.forge.facts import CheckContext, ContextKind, Listing
from merging.decisions.mergeability import Mergeability, MergeFacts, change_mark, classify_mergeability
from merging.decisions.protocol import Protocol
from merging.facts import Verdict

T0 = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
HEAD, BASE = "a" * 40, "b" * 40


def run(name="test", status="COMPLETED", conclusion="SUCCESS", *, required=True, app=1, minute=0, number=1):
    started = T0.replace(minute=minute)
    return CheckContext(
        kind=ContextKind.CHECK_RUN,
        name=name,
        status=status,
        conclusion=conclusion if status == "COMPLETED" else None,
        database_id=number,
        started_at=started,
        completed_at=started if status == "COMPLETED" else None,
        app_id=app,
        suite_id=number,
        workflow_id=7,
        event="pull_request",
        required=required,
    )


def status(name="ci/old", state="SUCCESS", *, required=True):
    return CheckContext(kind=ContextKind.STATUS, name=name, status=state, created_at=T0, required=required)


def checks(*contexts, complete=True):
    return check_rollup(Listing(items=contexts, complete=complete, total=len(contexts)))


def facts(word, *contexts, **more):
    known = {
        "head": HEAD,
        "base": BASE,
        "draft": False,
        "in_queue": False,
        "merge_state": word,
        "review_decision": "",
        "checks": checks(*contexts),
    }
    return MergeFacts(**{**known, **more})


RED = run(conclusion="FAILURE")
RUNS = run(status="IN_PROGRESS")
READY = (Verdict.READY, "")
VECTORS = [
    # Unread comes before everything.
    (facts("CLEAN", checks=checks(run(), complete=False)), Verdict.WAITING, "unverifiable"),
    (facts("CLEAN", checks=Rollup(checks=(), complete=False)), Verdict.WAITING, "unverifiable"),
    (facts("CLEAN", head=None), Verdict.WAITING, "unverifiable"),
    (facts("CLEAN", base=None), Verdict.WAITING, "unverifiable"),
    (facts("CLEAN", draft=True, head=None), Verdict.WAITING, "unverifiable"),
    # A draft with green checks reads CLEAN.
    (facts("CLEAN", run(), draft=True), Verdict.DRAFT, "draft"),
    (facts("DIRTY", draft=True), Verdict.DRAFT, "draft"),
    (facts("BLOCKED", in_queue=True), Verdict.WAITING, "queue"),
    # The forge's good words.
    (facts("CLEAN"), *READY),
    (facts("HAS_HOOKS"), *READY),
    (facts("BEHIND"), *READY),
    (facts("UNSTABLE", run(conclusion="FAILURE", required=False)), *READY),
    # Conflict and blocks.
    (facts("DIRTY"), Verdict.CONFLICT, "conflict"),
    (facts("BLOCKED", RED), Verdict.BLOCKED, "checks_failing"),
    (facts("BLOCKED", run(conclusion="FAILURE", required=None)), Verdict.BLOCKED, "checks_failing"),
    (facts("BLOCKED", run(conclusion="FAILURE", required=False)), Verdict.WAITING, "branch_rules"),
    (facts("BLOCKED", status(state="ERROR")), Verdict.BLOCKED, "checks_failing"),
    (facts("BLOCKED", RED, run("lint", "QUEUED")), Verdict.BLOCKED, "checks_failing"),
    (facts("BLOCKED", RUNS), Verdict.WAITING, "checks_pending"),
    (facts("BLOCKED", run(status="IN_PROGRESS", required=None)), Verdict.WAITING, "checks_pending"),
    (facts("BLOCKED", status(state="EXPECTED")), Verdict.WAITING, "checks_pending"),
    (facts("BLOCKED", run(status="IN_PROGRESS", required=False)), Verdict.WAITING, "branch_rules"),
    (facts("BLOCKED", review_decision="REVIEW_REQUIRED"), Verdict.WAITING, "review_required"),
    (facts("BLOCKED", review_decision="CHANGES_REQUESTED"), Verdict.WAITING, "review_required"),
    (facts("BLOCKED", review_decision="APPROVED"), Verdict.WAITING, "branch_rules"),
    # Not settled, or not understood.
    (facts("UNKNOWN"), Verdict.WAITING, "computing"),
    (facts(""), Verdict.WAITING, "computing"),
    (facts("DRAFT"), Verdict.WAITING, "computing"),
    (facts("SOMETHING_NEW"), Verdict.WAITING, "unclassified"),
]


@pytest.mark.parametrize(("seen", "verdict", "reason"), VECTORS)
def test_the_first_row_that_hits_decides(seen, verdict, reason):
    assert classify_mergeability(seen, Protocol(), admin=False) == Mergeability(verdict, reason)


ADMIN_VECTORS = [
    (facts("BLOCKED", review_decision="REVIEW_REQUIRED"), Verdict.READY, "admin"),
    (facts("BLOCKED", run(), review_decision="CHANGES_REQUESTED"), Verdict.READY, "admin"),
    (facts("BLOCKED", run()), Verdict.WAITING, "branch_rules"),  # perhaps a required check that never ran
    (facts("BLOCKED", run(), review_decision="APPROVED"), Verdict.WAITING, "branch_rules"),
    (facts("BLOCKED", RED, review_decision="REVIEW_REQUIRED"), Verdict.BLOCKED, "checks_failing"),
    (facts("BLOCKED", RUNS, review_decision="REVIEW_REQUIRED"), Verdict.WAITING, "checks_pending"),
    (facts("BLOCKED", status(state="EXPECTED")), Verdict.WAITING, "checks_pending"),
    (facts("BLOCKED", draft=True), Verdict.DRAFT, "draft"),
    (facts("DIRTY"), Verdict.CONFLICT, "conflict"),
    (facts("UNKNOWN"), Verdict.WAITING, "computing"),
]


@pytest.mark.parametrize(("seen", "verdict", "reason"), ADMIN_VECTORS)
def test_admin_merging_lifts_the_review_rule_and_nothing_else(seen, verdict, reason):
    assert classify_mergeability(seen, Protocol(), admin=True) == Mergeability(verdict, reason)


def test_a_cancelled_run_that_a_green_one_replaced_does_not_block():
    """MG-S4: cancelled and green run of one check on one head is ready."""
    cancelled, green = run(conclusion="CANCELLED", number=1), run(minute=2, number=2)
    assert classify_mergeability(facts("CLEAN", cancelled, green), Protocol(), admin=False).verdict is Verdict.READY
    assert classify_mergeability(facts("BLOCKED", cancelled, green), Protocol(), admin=False).reason == "branch_rules"


def test_two_producers_of_one_name_are_two_checks():
    """MG-S12: two runs of one name by two producers, one red, block."""
    seen = facts("BLOCKED", run("build", app=1, number=1), run("build", conclusion="FAILURE", app=2, number=2))
    assert classify_mergeability(seen, Protocol(), admin=False) == Mergeability(Verdict.BLOCKED, "checks_failing")


CONTEXTS = st.lists(
    st.builds(
        run,
        name=st.sampled_from(["test", "lint"]),
        status=st.sampled_from(["COMPLETED", "IN_PROGRESS", "QUEUED"]),
        conclusion=st.sampled_from(["SUCCESS", "FAILURE", "CANCELLED", "TIMED_OUT", "SKIPPED"]),
        required=st.sampled_from([True, False, None]),
        number=st.integers(1, 9),
    ),
    max_size=4,
)


@given(contexts=CONTEXTS, admin=st.booleans(), decision=st.sampled_from(["", "APPROVED", "REVIEW_REQUIRED"]))
def test_a_blocked_pull_request_with_a_bad_required_check_is_never_ready(contexts, admin, decision):
    seen = facts("BLOCKED", *contexts, review_decision=decision)
    bad = [c for c in (*seen.checks.failing, *seen.checks.in_flight) if c.required is not False]
    found = classify_mergeability(seen, Protocol(), admin=admin)
    assert (found.verdict is Verdict.READY) == (admin and not bad and decision == "REVIEW_REQUIRED")


@given(contexts=st.permutations([run("a"), run("b", conclusion="FAILURE"), status(), run("c", "QUEUED")]))
def test_the_mark_of_change_does_not_depend_on_the_order_of_checks(contexts):
    found = Mergeability(Verdict.WAITING, "checks_pending")
    expected = change_mark(
        facts("BLOCKED", run("a"), run("b", conclusion="FAILURE"), status(), run("c", "QUEUED")), found
    )
    assert change_mark(facts("BLOCKED", *contexts), found) == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"head": "c" * 40},
        {"base": "c" * 40},
        {"review_decision": "APPROVED"},
        {"checks": checks(run(status="IN_PROGRESS"))},
    ],
)
def test_whatever_the_stall_clock_watches_changes_the_mark(changed):
    found = Mergeability(Verdict.WAITING, "branch_rules")
    seen = facts("BLOCKED", run())
    assert change_mark(replace(seen, **changed), found) != change_mark(seen, found)
    assert change_mark(seen, Mergeability(Verdict.WAITING, "computing")) != change_mark(seen, found)
