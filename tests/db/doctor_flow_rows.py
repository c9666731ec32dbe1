"""Faults of flows, of their looks and of what they wait for, in the form of the other rows."""

from datetime import timedelta
from functools import partial

from convergence.flow import ConvergenceState, PullState
from convergence.models import ConvergenceFlow, PullRequestGeneration, ReviewerStatus
from merging.models import Dependency
from runs.clock import now
from tests.db.kernel.pulls import pull_made
from tests.db.rows import Rows, ago


def flow_made(**columns):
    pull = pull_made(12)
    at = now()
    fields = {
        "subject": pull.subject,
        "generation": 1,
        "state": ConvergenceState.AWAIT_REVIEW,
        "due_at": at + timedelta(hours=1),
        "entered_at": at,
        "created_at": at,
        "max_rounds": 20,
    }
    return ConvergenceFlow.objects.create(pull=pull, **{**fields, **columns})


def flow_late():
    row = flow_made(due_at=ago(minutes=6))
    return partial(ConvergenceFlow.objects.filter(pk=row.pk).update, due_at=now())


def look_fails():
    row = flow_made(look_failures=3, last_look_error="it broke", last_look_at=now())
    return partial(ConvergenceFlow.objects.filter(pk=row.pk).update, look_failures=0, last_look_error="")


def merge_missing():
    row = flow_made(state=ConvergenceState.CONVERGED, due_at=None, ended_at=ago(minutes=6))
    row.pull.state = PullState.CONVERGED
    row.pull.save()
    generation = PullRequestGeneration.objects.create(
        pull=row.pull,
        number=1,
        abandon_token="t",
        max_rounds=20,
        submitted_by="operator:ann",
        submitted_at=now(),
        correlation_id="c",
        outcome="converged",
    )
    return generation.delete


def dependency_unreadable():
    row = Dependency.objects.create(
        pull=pull_made(12),
        key="acme/other#7",
        reference="acme/other#7",
        number=7,
        source="description",
        standing="waiting",
        unreadable_since=ago(hours=2),
        added_by="operator:ann",
        added_at=now(),
    )
    return partial(Dependency.objects.filter(pk=row.pk).update, dropped_at=now())


def reviewer_ignores():
    row = ReviewerStatus.objects.create(
        repository=pull_made(12).repository, reviewer="copilot", ignored_count=3, checked_at=now()
    )
    return partial(ReviewerStatus.objects.filter(pk=row.pk).update, ignored_count=0)


FLOW_ROWS: Rows = {
    "flow_overdue": (flow_late, "1 look of convergence is late", "manage.py serve"),
    "flow_backing_off": (look_fails, "failed, 3 in a row: it broke", "manage.py prs list"),
    "merge_flow_missing": (merge_missing, "and its merge has not begun", "manage.py serve"),
    "dependency_unreadable": (
        dependency_unreadable,
        "acme/shop#12 waits for acme/other#7, whose repository cannot be read",
        "manage.py prs drop-dependency acme/shop#12 acme/other#7",
    ),
    "review_request_ignored": (
        reviewer_ignores,
        "copilot ignored 3 requests in acme/shop",
        "manage.py prs probe-reviewer acme/shop copilot",
    ),
}
