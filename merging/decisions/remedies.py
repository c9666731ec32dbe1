"""How checks are made to run again: a fresh run of a head that got none, a re-run of what failed by accident."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from merging.decisions.mergeability import Mergeability, MergeFacts, failing_checks
from merging.facts import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from convergence.forge.checks import Check
    from merging.decisions.protocol import Protocol

CI_GRACE = timedelta(minutes=2)  # after a head's first sight, in which its checks begin by themselves
PATIENCE = timedelta(minutes=5)  # for the effect of a remedy; then checks are judged as they are
SETTLES = timedelta(seconds=60)  # between a remedy that was accepted and the runs that show it
REOPENS = timedelta(minutes=2)  # in which a pull request that the product closed is not taken for closed


class Remedy(StrEnum):
    """What can be done to a pull request so that its checks run."""

    READY = "ready"  # mark a draft ready for review
    REOPEN = "reopen"  # close and open it again
    RERUN = "rerun"  # run the failed jobs again


def fresh_run(facts: MergeFacts, found: Mergeability, protocol: Protocol | None) -> Remedy | None:
    """What makes the checks of a head run that got none; None when nothing is to be done.

    Only when none of the declared checks has a run (nothing declared: no check at all).
    """
    if protocol is None or facts.head is None or not facts.checks.complete or facts.in_queue:
        return None
    if found.verdict not in {Verdict.WAITING, Verdict.DRAFT}:
        return None
    names = {check.name for check in protocol.required_checks}
    ran = bool(facts.checks.present & names) if names else bool(facts.checks.checks)
    if ran:
        return None
    wish = protocol.fresh_head_run
    if facts.draft:
        return Remedy.READY if wish in {"ready", "ready_or_reopen"} else None
    return Remedy.REOPEN if wish in {"reopen", "ready_or_reopen"} else None


def had_time(first_seen: datetime | None, now: datetime) -> bool:
    """Whether the checks of a head have had the time to begin by themselves."""
    return first_seen is not None and now - first_seen >= CI_GRACE


def runs_to_repeat(
    facts: MergeFacts, protocol: Protocol | None, *, head: str, failed: Collection[int], repeated: Collection[str]
) -> tuple[str, ...]:
    """The workflow runs to repeat: at ``head``, of checks that failed already when the agent looked at them.

    ``repeated`` are those that were repeated for this head; each is once.
    """
    if not head or facts.head != head:
        return ()
    same = [check for check in failing_checks(facts.checks, protocol) if check.run_id in failed]
    return workflow_runs(same, but=repeated)


def workflow_runs(checks: Iterable[Check], *, but: Collection[str] = ()) -> tuple[str, ...]:
    """The workflow runs of these checks, each once, without those of ``but``."""
    found = dict.fromkeys(str(check.workflow_run) for check in checks if check.workflow_run)
    return tuple(each for each in found if each not in but)


def under_way(*, asked_at: datetime, done_at: datetime | None, now: datetime) -> bool:
    """Whether a remedy has still to show in the checks, so that they are not judged yet."""
    if done_at is None:
        return now - asked_at < PATIENCE
    return now - done_at < SETTLES
