"""Which pull requests a webhook delivery names. A delivery only makes looks come sooner; it carries no fact inwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from convergence.flow import PullState
from convergence.models import PullRequest, Repository
from runs.clock import now as clock_now
from runs.flows.registry import flow_types
from runs.intake.deliveries import Woken
from runs.models import WebhookDelivery
from runs.nudge import nudge

ONE_PASS = timedelta(seconds=1)  # how often rows are looked for
LOOKED_BACK = 20  # deliveries
FOLDED = timedelta(seconds=2)  # deliveries this soon after a look are folded into one look at the end
MOST_WOKEN = 500
HEADS = "refs/heads/"
MOST_KEY = 2**63 - 1  # of any row
NUL = "\0"  # a payload may hold it, a column of PostgreSQL does not
Payload = Mapping[str, Any]


def github_wake(kind: str, payload: Payload) -> Woken:
    """Make the flows of the pull requests that the delivery names look soon; return how many rows, or why none."""
    if kind == "ping":
        return Woken(ignored="ping")
    find = _KINDS.get(kind)
    if find is None:
        return Woken(ignored="unhandled_kind")
    repository = _repository_id(payload)
    wanted = find(payload, repository)
    if wanted is None:
        return Woken(ignored="unhandled_action")
    pulls = PullRequest.objects.select_related("repository").filter(wanted)[:MOST_WOKEN]
    subjects = [pull.subject for pull in pulls]
    if not subjects and not Repository.objects.filter(forge_id=repository).exists():
        return Woken(ignored="repo_not_tracked")
    return Woken(count=subjects_wake(subjects, at_once=not _in_a_burst()))


def _in_a_burst() -> bool:
    """Whether another delivery woke something a moment ago: then the pass that comes anyway takes all in one batch."""
    since = clock_now() - ONE_PASS
    return any(woken and at > since for woken, at in _newest())


def _newest() -> Iterable[tuple[int, datetime]]:
    return WebhookDelivery.objects.order_by("-id").values_list("woken", "at")[:LOOKED_BACK]


def subjects_wake(subjects: list[str], *, at_once: bool = True) -> int:
    """The first look comes at once; a row that was looked at a moment ago is looked at once more when that is over.

    Without ``at_once`` the looks are due all the same, and wait for the next pass, which shares their requests.
    """
    if not subjects:
        return 0
    now = clock_now()
    woken = 0
    for flow in flow_types():
        rows = flow.model.objects.filter(subject__in=subjects)
        recent = Q(last_look_at__gt=now - FOLDED)
        woken += rows.filter(recent, due_at__gt=now + FOLDED).update(due_at=now + FOLDED)
        woken += rows.filter(due_at__gt=now).exclude(recent).update(due_at=now)
    if woken and at_once:
        nudge("flows")
    return woken


def _repository_id(payload: Payload) -> int:
    return next(iter(_whole([_block(payload, "repository").get("id")])), 0)


def _whole(values: Iterable[Any]) -> list[int]:
    """Those that a key or a number of a row can be: a number beyond the column would break the query."""
    return [each for each in values if isinstance(each, int) and not isinstance(each, bool) and 0 < each <= MOST_KEY]


def _block(payload: Payload, name: str) -> Payload:
    found = payload.get(name)
    return found if isinstance(found, Mapping) else {}


def _listed(block: Payload, name: str, field: str) -> list[Any]:
    """That field of each object of the list, of none where the name holds no list."""
    found = block.get(name)
    entries = found if isinstance(found, list) else []
    return [entry.get(field) for entry in entries if isinstance(entry, Mapping)]


def _text(value: Any) -> str:
    """The text, empty for anything that no column of text holds."""
    return value if isinstance(value, str) and NUL not in value else ""


def _numbered(repository: int, numbers: list[Any]) -> Q:
    return Q(repository__forge_id=repository, number__in=_whole(numbers))


def _pull(payload: Payload, repository: int) -> Q:
    return _numbered(repository, [_block(payload, "pull_request").get("number"), payload.get("number")])


def _comment(payload: Payload, repository: int) -> Q | None:
    issue = _block(payload, "issue")
    return _numbered(repository, [issue.get("number")]) if issue.get("pull_request") else None


def _checked(name: str) -> Callable[[Payload, int], Q]:
    def find(payload: Payload, repository: int) -> Q:
        block = _block(payload, name)
        suite = _block(block, "check_suite")
        numbers = [*_listed(block, "pull_requests", "number"), *_listed(suite, "pull_requests", "number")]
        return _numbered(repository, numbers) | _headed(repository, block.get("head_sha"))

    return find


def _headed(repository: int, sha: Any) -> Q:
    known = _text(sha)
    if not known:
        return Q(pk__in=[])
    return Q(head_sha=known) & (Q(repository__forge_id=repository) | Q(head_repository_id=repository))


def _status(payload: Payload, repository: int) -> Q:
    return _headed(repository, payload.get("sha"))


def _push(payload: Payload, repository: int) -> Q | None:
    ref = _text(payload.get("ref"))
    if not ref.startswith(HEADS):
        return None
    branch = ref.removeprefix(HEADS)
    return Q(head_repository_id=repository, head_ref=branch) | Q(repository__forge_id=repository, base_ref=branch)


def _queue(payload: Payload, repository: int) -> Q | None:
    ref = _text(_block(payload, "merge_group").get("base_ref"))
    if not ref:
        return None
    return Q(repository__forge_id=repository, base_ref=ref.removeprefix(HEADS), state=PullState.QUEUED)


def _repository(payload: Payload, repository: int) -> Q | None:
    if _text(payload.get("action")) not in {"renamed", "transferred"}:
        return None
    return Q(repository__forge_id=repository)


def _installation(payload: Payload, repository: int) -> Q:
    del repository
    ids = [*_listed(payload, "repositories", "id"), *_listed(payload, "repositories_added", "id")]
    return Q(repository__forge_id__in=_whole(ids))


_KINDS: dict[str, Callable[[Payload, int], Q | None]] = {
    "pull_request": _pull,
    "pull_request_review": _pull,
    "pull_request_review_comment": _pull,
    "pull_request_review_thread": _pull,
    "issue_comment": _comment,
    "check_run": _checked("check_run"),
    "check_suite": _checked("check_suite"),
    "workflow_run": _checked("workflow_run"),
    "status": _status,
    "push": _push,
    "merge_group": _queue,
    "repository": _repository,
    "installation": _installation,
    "installation_repositories": _installation,
}
