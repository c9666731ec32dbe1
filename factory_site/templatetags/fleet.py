"""Tags of the pages of the machine: ids of workers, hashes, seconds, reasons."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import template
from django.utils.html import escape, format_html
from django.utils.timezone import localtime

from factory_site.console.selectors.pull import pull_address
from factory_site.console.wording import words
from factory_site.console.wording.reasons import reason_of
from factory_site.shell.pool_lines import decision_text
from factory_site.templatetags.console import actor as actor_in_words
from factory_site.templatetags.console import outside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from django.utils.safestring import SafeString

    from convergence.models import PullRequest
    from workers.selectors.pools import PoolRow

register = template.Library()
RUN = re.compile(r"run_[0-9A-Z]{26}", re.ASCII)
WORKER = re.compile(r"[a-z0-9-]+\.[0-9TZ]{16}\.[0-9a-f]+", re.ASCII)
SHOWN_CHARACTERS = 6
FIRST_LINE = 120


@register.filter
def short_worker(worker_id: str) -> str:
    """The node and the last part of a worker's id: what tells boots of one node apart."""
    node, _, rest = worker_id.partition(".")
    return f"{node}.…{rest[-SHOWN_CHARACTERS:]}" if len(rest) > SHOWN_CHARACTERS + 3 else worker_id


@register.filter
def short_hash(value: str) -> str:
    """The first digits of a hash, without the name of its kind."""
    return value.removeprefix("sha256:")[:7]


@register.filter
def decision(row: PoolRow) -> str:
    """What the supervisor of a pool decided last, in words."""
    return decision_text(row)


@register.filter
def seconds(value: float) -> str:
    """A length of time in seconds as people read it."""
    return words.duration(timedelta(seconds=value))


@register.filter
def usd(value: float | None) -> str:
    """Dollars; unknown is not zero."""
    return words.money(None if value is None else round(value * words.MICRO))


@register.filter
def reason(code: str) -> str:
    """The sentence of a reason code."""
    return reason_of(code).sentence


@register.simple_tag
def clock(at: datetime) -> SafeString:
    """The time of day with seconds; the whole instant is its title."""
    local = localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), words.absolute(local), f"{local:%H:%M:%S}"
    )


@register.simple_tag
def found_in(text: str, wanted: str = "") -> SafeString:
    """Text from outside, inert, with what was searched for marked."""
    if not wanted:
        return outside(text)
    pieces = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE)
    marks = ("<mark>{}</mark>" if number % 2 else "{}" for number in range(len(pieces)))
    return format_html("".join(marks), *(outside(piece) for piece in pieces))


@register.filter
def first_line(text: str) -> str:
    """The first line that says something, cut."""
    line = next((each.strip() for each in text.splitlines() if each.strip()), "no output")
    return line if len(line) <= FIRST_LINE else f"{line[:FIRST_LINE]}…"


@register.filter
def labels_of(offer: Mapping[str, Any]) -> str:
    """The labels of an offer."""
    return ", ".join(f"{name}={value}" for name, value in sorted((offer.get("labels") or {}).items())) or "none"


@register.filter
def repositories_of(names: Sequence[str] | None) -> str:
    """The repositories of an offer; `*` stands for all."""
    if not names:
        return "none"
    return "every repository" if "*" in names else ", ".join(names)


@register.filter
def skew(milliseconds: int) -> str:
    """How far a clock is off, and in which direction."""
    away = words.duration(timedelta(milliseconds=abs(milliseconds)))
    return "right to the second" if abs(milliseconds) < 1000 else f"{away} {'ahead' if milliseconds > 0 else 'behind'}"  # noqa: PLR2004 - a second


@register.filter
def short_keys(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The keys of a document whose values are one short line."""
    return [(name, text) for name, text in _texts(document) if _is_short(text)]


@register.filter
def long_keys(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The keys of a document whose values need room."""
    return [(name, text) for name, text in _texts(document) if not _is_short(text)]


def _texts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))
        for name, value in sorted(document.items())
    ]


def _is_short(text: str) -> bool:
    return len(text) <= FIRST_LINE and "\n" not in text


@register.simple_tag
def example(name: str, pulls: Mapping[str, PullRequest]) -> SafeString:
    """The name of an example, a link where it has a page."""
    if name in pulls:
        return format_html('<a href="{}">{}</a>', pull_address(pulls[name]), pulls[name].key)
    if RUN.fullmatch(name):
        return format_html('<a href="/runs/{0}/">{1}</a>', name, words.short_id(name, SHOWN_CHARACTERS))
    if WORKER.fullmatch(name):
        return format_html('<a href="/workers/{0}/">{1}</a>', name, short_worker(name))
    return escape(name)


@register.filter
def who(actor: str) -> str:
    """Who wrote a row of a journal, in words; a worker by its short id."""
    kind, _, name = actor.partition(":")
    return f"the worker {short_worker(name)}" if kind == "worker" else actor_in_words(actor)
