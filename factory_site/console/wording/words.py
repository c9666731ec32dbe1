"""Times, numbers and ids in words. Pure; `static/live.js` says ages and countdowns in the same words."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta

UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
MICRO = 1_000_000  # µUSD in a dollar
SHORT_SHA = 7
ABBREVIATED_FROM = 100_000


def duration(length: timedelta) -> str:
    """The two largest units of a length of time; tenths below ten seconds. A negative length counts as none."""
    seconds = max(0.0, length.total_seconds())
    if seconds < 10:  # noqa: PLR2004 - where a tenth stops to matter
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = int(seconds)
    for (unit, size), (smaller, smaller_size) in zip(UNITS, (*UNITS[1:], ("", 1)), strict=True):
        if whole >= size:
            count, rest = divmod(whole, size)
            left = rest // smaller_size if smaller else 0
            return f"{count} {unit} {left} {smaller}" if left else f"{count} {unit}"
    return "0 s"


def largest_unit(length: timedelta) -> str:
    """A length of time in its largest unit alone."""
    whole = max(0, int(length.total_seconds()))
    for unit, size in UNITS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return "0 s"


def without_seconds(length: timedelta) -> str:
    """As `duration`, with seconds only in the last minute."""
    if length >= timedelta(minutes=1):
        length -= timedelta(seconds=length.total_seconds() % 60)
    return duration(timedelta(seconds=int(length.total_seconds())))


def ago(instant: datetime, now: datetime) -> str:
    """How long ago, in the zone of `instant`: an age for a day, a weekday for a week, then a date."""
    age = now - instant
    if age < timedelta(seconds=1):
        return "just now"
    if age < timedelta(days=1):
        return f"{largest_unit(age)} ago"
    if age < timedelta(days=7):
        return f"{instant:%a %H:%M}"
    if instant.year == now.astimezone(instant.tzinfo).year:
        return f"{instant.day} {instant:%b %H:%M}"
    return f"{instant.day} {instant:%b %Y}"


def countdown(instant: datetime, now: datetime, *, for_people: bool) -> str:
    """How long until; never negative: overdue for people, late for timers."""
    left = instant - now
    if left >= timedelta(seconds=1):
        return f"in {without_seconds(left)}"
    late = largest_unit(-left)
    return f"overdue {late}" if for_people else f"due, {late} late"


def absolute(instant: datetime) -> str:
    """The whole instant, with seconds and its zone."""
    return f"{instant:%Y-%m-%d %H:%M:%S} {instant.tzname()}"


def number(value: int) -> str:
    """A whole number as people read it; abbreviated from a hundred thousand on."""
    if abs(value) < ABBREVIATED_FROM:
        return f"{value:,}"
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.1f} {unit}" if scaled < 100 and unit != "k" else f"{scaled:.0f} {unit}"  # noqa: PLR2004
    return str(value)


def money(micro_usd: int | None) -> str:
    """Dollars from µUSD; unknown is not zero."""
    if micro_usd is None:
        return "not reported"
    dollars = micro_usd / MICRO
    if 0 < dollars < 0.01:  # noqa: PLR2004 - a cent
        return "<$0.01"
    return f"${dollars:,.0f}" if dollars >= 1_000 else f"${dollars:,.2f}"  # noqa: PLR2004 - cents stop to matter


def short_sha(sha: str) -> str:
    """The first seven characters of a commit."""
    return sha[:SHORT_SHA]


def short_id(text: str, keep: int = 4) -> str:
    """An id cut in the middle; a short one stays whole."""
    return text if len(text) <= 2 * keep + 3 else f"{text[:keep]}…{text[-keep:]}"


def counted(value: int, one: str, many: str = "") -> str:
    """A number with its noun in the right form."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def marked(text: str) -> list[tuple[str, bool]]:
    """Text in pieces: what is plain, and each hidden or direction-changing character as its code point."""
    pieces: list[tuple[str, bool]] = []
    plain = ""
    for character in text.replace("\r\n", "\n"):
        if character not in "\n\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
            if plain:
                pieces.append((plain, False))
                plain = ""
            pieces.append((f"U+{ord(character):04X}", True))
        else:
            plain += character
    return [*pieces, (plain, False)] if plain else pieces


def sentence_case(text: str) -> str:
    """The text with a capital at its start, unless it starts with a name such as `acme/shop` or `pr-review@1`."""
    first = text.split(" ", 1)[0].rstrip(",.:;")
    return text[:1].upper() + text[1:] if first.isalpha() else text
