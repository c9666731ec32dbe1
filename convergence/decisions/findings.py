"""How each finding stands at the entry of a round, against the entry before. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Key = tuple[str, str]  # kind and forge id


class Trend(StrEnum):
    """Against the entry before."""

    NEW = "new"
    REPEAT = "repeat"
    REOPENED = "reopened"
    GONE = "gone"


class Closed(StrEnum):
    """How a finding that is not open was closed."""

    FIXED = "fixed"
    DECLINED = "declined"
    VANISHED = "vanished"  # listed no more, and nobody said why


@dataclass(frozen=True, slots=True)
class Found:
    """One finding as it stands now; ``closed_as`` is blank while it is open."""

    kind: str
    forge_id: str
    fingerprint: str
    closed_as: str = ""
    author: str = ""
    path: str = ""
    text: str = ""
    url: str = ""

    @property
    def key(self) -> Key:
        """What makes it one finding."""
        return self.kind, self.forge_id

    @property
    def is_open(self) -> bool:
        """Whether it stands."""
        return not self.closed_as


@dataclass(frozen=True, slots=True)
class Moved:
    """A finding with its trend; ``how`` tells of one that is gone."""

    found: Found
    trend: Trend
    how: str = ""


def findings_moved(before: Sequence[Found], now: Sequence[Found]) -> tuple[Moved, ...]:
    """The findings whose standing is to be recorded at this entry, those of ``now`` first.

    ``before`` are all that this generation has known, as they stood at the entry before. One that is listed no more has
    vanished. Findings of one fingerprint are one point, whichever thread raises it.
    """
    past = {found.key: found for found in before}
    present = {found.key: found for found in now}
    gone = [_vanished(found) for key, found in past.items() if key not in present]
    points: dict[str, list[Found]] = defaultdict(list)
    for found in (*now, *gone):
        points[found.fingerprint].append(found)
    moved = []
    raised: set[str] = set()
    for found in (*now, *gone):
        was_open = found.key in past and past[found.key].is_open
        if found.is_open:
            trend = _raised(found, points[found.fingerprint], past, first=found.fingerprint not in raised)
            raised.add(found.fingerprint)
            moved.append(Moved(found, trend))
        elif was_open:
            moved.append(Moved(found, Trend.GONE, found.closed_as))
    return tuple(moved)


def _vanished(found: Found) -> Found:
    return Found(
        found.kind,
        found.forge_id,
        found.fingerprint,
        found.closed_as or Closed.VANISHED,
        found.author,
        found.path,
        found.text,
        found.url,
    )


def _raised(found: Found, point: Iterable[Found], past: Mapping[Key, Found], *, first: bool) -> Trend:
    """The trend of an open finding among those of the same fingerprint."""
    known = [(past[each.key], each) for each in point if each.key in past]
    if found.key in past and past[found.key].is_open:
        return Trend.REPEAT
    if not first or any(was.is_open and now.is_open for was, now in known):
        return Trend.REPEAT  # raised again while it is open
    if not known:
        return Trend.NEW
    closing = [now.closed_as for was, now in known if was.is_open and not now.is_open]
    closed = closing or [was.closed_as for was, _ in known]
    return Trend.REPEAT if Closed.DECLINED in closed else Trend.REOPENED
