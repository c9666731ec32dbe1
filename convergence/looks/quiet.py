"""Waits in which nothing happens: a look that finds what the last one found is over before it begins.

A look at a waiting row that moved nothing is remembered in this process with a hash of what was read, and with the
first instant at which the passing of time alone could change its outcome. A look that reads the same facts before that
instant, and that nobody woke, ends with the next look's date, fifty rows in one statement. Whatever is not exactly as
remembered (another process looked meanwhile, a webhook came, the policy was read anew) is looked at in full.
"""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from convergence.decisions.schedule import poll_pause
from convergence.flow import ConvergenceState as S
from convergence.forge.facts import Profile, PullFacts
from convergence.models import ForgeSnapshot
from runs.flows.looks import looks_done
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import ConvergenceFlow
    from runs.contract.errors import FactoryError
    from runs.policy import Policy

LONGEST = timedelta(minutes=5)  # then a row is looked at in full, whatever was forgotten here
SPREAD = 0.2
MOST_REMEMBERED = 50_000
NO_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Remembered:
    version: int
    due_at: datetime
    until: datetime
    facts: int
    policy: Policy


class QuietWaits:
    """What this process remembers of its own last looks. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, _Remembered] = {}

    def remember(
        self, row: ConvergenceFlow, facts: PullFacts, *, due_at: datetime, now: datetime, changes_at: datetime | None
    ) -> None:
        """Keep that a look moved nothing; ``changes_at`` is when time alone may change that."""
        longest = now + LONGEST * (1 + random.uniform(-SPREAD, SPREAD))  # noqa: S311  # spreading load is no secret
        until = longest if changes_at is None else min(longest, changes_at)
        with self._lock:
            if len(self._rows) >= MOST_REMEMBERED:
                self._rows.clear()
            self._rows[row.pk] = _Remembered(row.version, due_at, until, _hash(facts), policy())

    def is_quiet(self, row: ConvergenceFlow, facts: PullFacts, now: datetime) -> bool:
        """Whether the row is as it was left, was woken by nobody, and the forge says what it said."""
        known = self._rows.get(row.pk)
        return (
            known is not None
            and row.state == S.AWAIT_REVIEW
            and (known.version, known.due_at) == (row.version, row.was_due)
            and now < known.until
            and known.policy is policy()
            and known.facts == _hash(facts)
        )

    def again(self, rows: Sequence[ConvergenceFlow], due_at: Mapping[int, datetime]) -> None:
        """Take over the next looks' dates of rows that stayed quiet."""
        with self._lock:
            for row in rows:
                known = self._rows.get(row.pk)
                if known is not None:
                    self._rows[row.pk] = replace(known, due_at=due_at[row.pk])


quiet_waits = QuietWaits()


def quiet_left(
    rows: Sequence[ConvergenceFlow], outcomes: Mapping[int, PullFacts | FactoryError], *, seconds: int, now: datetime
) -> list[ConvergenceFlow]:
    """Set the next look of the rows in which nothing happened; return the others, to be looked at in full.

    ``seconds`` is the interval between two polls.
    """
    quiet = []
    for row in rows:
        facts = outcomes[row.pk]
        if isinstance(facts, PullFacts) and quiet_waits.is_quiet(row, facts, now):
            quiet.append(row)
    if not quiet:
        return list(rows)
    due_at = {row.pk: now + poll_pause(row.state, seconds) for row in quiet}
    looks_done(quiet, due_at=due_at, now=now)
    quiet_waits.again(quiet, due_at)
    pulls = [row.pull_id for row in quiet]
    ForgeSnapshot.objects.filter(pull__in=pulls, profile=Profile.WATCH).update(observed_at=now)
    left = {row.pk for row in quiet}
    return [row for row in rows if row.pk not in left]


def _hash(facts: PullFacts) -> int:
    return hash(replace(facts, observed_at=NO_INSTANT))
