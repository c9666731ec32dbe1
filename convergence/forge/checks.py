"""What the checks of one head say together. Pure, and independent of the order in which they were read."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from convergence.forge.facts import CheckContext, ContextKind, Listing

FAILING_CONCLUSIONS = frozenset({"FAILURE", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE"})
FAILING_STATUSES = frozenset({"ERROR", "FAILURE"})
PENDING_STATUSES = frozenset({"PENDING", "EXPECTED"})
COMPLETED, CANCELLED, STALE = "COMPLETED", "CANCELLED", "STALE"
STATUS, RUN = "status", "run"

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check that stands: the newest of its producer. ``required`` is ``None`` where GitHub does not say."""

    key: Key
    producer: str
    workflow: str | None
    name: str
    status: str
    conclusion: str | None
    required: bool | None
    url: str | None
    run_id: int | None
    since: datetime | None
    workflow_run: int | None = None  # what the forge runs again

    @property
    def in_flight(self) -> bool:
        """Whether it has not ended yet."""
        return self.status in PENDING_STATUSES if self.is_status else self.status != COMPLETED

    @property
    def failing(self) -> bool:
        """Whether it ended badly."""
        if self.is_status:
            return self.status in FAILING_STATUSES
        return self.status == COMPLETED and self.conclusion in FAILING_CONCLUSIONS

    @property
    def is_status(self) -> bool:
        """Whether it is a commit status, which has no conclusion."""
        return self.key[0] == STATUS


@dataclass(frozen=True, slots=True)
class Rollup:
    """All checks that stand, in the order of their keys; ``complete`` only if every context was read."""

    checks: tuple[Check, ...]
    complete: bool

    @property
    def failing(self) -> tuple[Check, ...]:
        """Those that ended badly."""
        return tuple(check for check in self.checks if check.failing)

    @property
    def in_flight(self) -> tuple[Check, ...]:
        """Those that have not ended yet."""
        return tuple(check for check in self.checks if check.in_flight)

    @property
    def present(self) -> frozenset[str]:
        """The names that ran or run on this head."""
        return frozenset(check.name for check in self.checks)

    def named(self, name: str) -> tuple[Check, ...]:
        """Every producer's check of that name; a declared name means all of them."""
        return tuple(check for check in self.checks if check.name == name)


def check_rollup(contexts: Listing[CheckContext] | None) -> Rollup:
    """Return what the contexts of one head mean; unread contexts are an incomplete rollup."""
    if contexts is None:
        return Rollup(checks=(), complete=False)
    ran = [item for item in contexts.items if item.conclusion != STALE]
    runs = [item for item in ran if item.kind is ContextKind.CHECK_RUN]
    statuses = [item for item in ran if item.kind is ContextKind.STATUS]
    checks = {_check(item) for item in (*_standing_runs(runs), *_standing_statuses(statuses))}
    return Rollup(checks=tuple(sorted(checks, key=_order)), complete=contexts.complete)


def _standing_runs(runs: list[CheckContext]) -> list[CheckContext]:
    """Of each producer the newest run, and older ones that overlap every newer one in their own suite."""
    by_key: dict[Key, list[CheckContext]] = defaultdict(list)
    for run in runs:
        if not _superseded(run, runs):
            by_key[_key(run)].append(run)
    standing: list[CheckContext] = []
    for group in by_key.values():
        newest_first = sorted(group, key=_age, reverse=True)
        standing += [
            run for place, run in enumerate(newest_first) if all(_overlap(run, newer) for newer in newest_first[:place])
        ]
    return standing


def _superseded(run: CheckContext, runs: Iterable[CheckContext]) -> bool:
    """Whether a cancelled run gave way to one that was not cancelled, of the same app, workflow and name."""
    if run.conclusion != CANCELLED:
        return False
    return any(
        other.conclusion != CANCELLED
        and (other.app_id, other.workflow_id, other.name) == (run.app_id, run.workflow_id, run.name)
        and (other.started_at is None or run.started_at is None or other.started_at >= run.started_at)
        for other in runs
    )


def _overlap(one: CheckContext, other: CheckContext) -> bool:
    """Whether two runs of one suite ran at the same time: neither started after the other completed."""
    if one.suite_id is None or one.suite_id != other.suite_id:
        return False
    return not _after(one, other) and not _after(other, one)


def _after(later: CheckContext, earlier: CheckContext) -> bool:
    if later.started_at is None or earlier.started_at is None:
        return False
    ended_at = earlier.completed_at or (earlier.started_at if earlier.status == COMPLETED else None)
    return ended_at is not None and later.started_at >= ended_at


def _age(run: CheckContext) -> tuple[int, float, float, str]:
    """Sort key of creation order; the last part only makes ties independent of the order of reading."""
    return (
        run.database_id or 0,
        run.started_at.timestamp() if run.started_at else 0.0,
        run.created_at.timestamp() if run.created_at else 0.0,
        _tie(run),
    )


def _tie(item: CheckContext) -> str:
    """Worse things win a tie, so that two equally new answers never hide a red one."""
    bad = item.conclusion in FAILING_CONCLUSIONS or item.status in FAILING_STATUSES
    return f"{bad:d}{item.status}:{item.conclusion}:{item.url}:{item.required}"


def _standing_statuses(statuses: list[CheckContext]) -> list[CheckContext]:
    by_name: dict[str, list[CheckContext]] = defaultdict(list)
    for status in statuses:
        by_name[status.name].append(status)
    return [max(group, key=_age) for group in by_name.values()]


def _key(item: CheckContext) -> Key:
    if item.kind is ContextKind.STATUS:
        return (STATUS, item.name)
    return (RUN, str(item.app_id or 0), str(item.workflow_id or 0), item.event or "", item.name)


def _check(item: CheckContext) -> Check:
    is_status = item.kind is ContextKind.STATUS
    return Check(
        key=_key(item),
        producer=(item.creator if is_status else item.app_slug) or "",
        workflow=item.workflow_name,
        name=item.name,
        status=item.status,
        conclusion=item.conclusion,
        required=item.required,
        url=item.url,
        run_id=item.database_id,
        since=item.started_at or item.created_at,
        workflow_run=item.workflow_run,
    )


def _order(check: Check) -> tuple[Key, int, str, str, str]:
    return check.key, check.run_id or 0, check.status, check.conclusion or "", check.url or ""
