"""Applying the rules: the command to the end, the hourly pass within bounds."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from runs.clock import now as clock_now
from runs.retention.rules import Rule, rules

if TYPE_CHECKING:
    from collections.abc import Iterator

_log = logging.getLogger(__name__)

MOST_OF_A_PASS = 400  # transactions of one rule in one pass; the rest waits for the next hour


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows a rule removed, or would remove."""

    rule: Rule
    count: int


def prunable() -> Iterator[Pruned]:
    """What each rule would remove now; reads only."""
    for rule in rules():
        if rule.days is not None:
            yield Pruned(rule, rule.removal.count(clock_now() - timedelta(days=rule.days)))


def pruned(most: int | None = None) -> Iterator[Pruned]:
    """Apply each rule and say what it removed; at most ``most`` transactions a rule, None: until nothing is left.

    Any number of callers at once; each transaction removes at most some 500 rows and repeats its condition.
    """
    for rule in rules():
        if rule.days is None:
            continue
        before = clock_now() - timedelta(days=rule.days)
        count = turns = 0
        while (most is None or turns < most) and (gone := rule.removal.remove_some(before)):
            count, turns = count + gone, turns + 1
        yield Pruned(rule, count)


def prune_pass() -> None:
    """Remove what retention no longer keeps."""
    for each in pruned(MOST_OF_A_PASS):
        if each.count:
            _log.info("retention removed %s %s older than %s days", each.count, each.rule.what, each.rule.days)
