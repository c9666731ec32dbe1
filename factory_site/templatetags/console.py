"""Tags of the console: whatever a page shows of time, number, state or outside text is worded here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime

from factory_site.console.selectors.pull import pull_address
from factory_site.console.wording import words
from factory_site.console.wording.badges import badge
from factory_site.console.wording.glyphs import glyph_svg
from factory_site.console.wording.texts import WARNINGS, edge_sentence
from runs.clock import now as clock_now
from runs.machine import guard_name

if TYPE_CHECKING:
    from datetime import datetime

    from django.template.context import Context

    from convergence.models import PullRequest
    from runs.machine import Edge

register = template.Library()
LINK = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}]")


def _now(context: Context) -> datetime:
    """One instant for a whole page, so that its ages agree with each other."""
    found: datetime | None = context.get("now")
    return found or clock_now()


@register.simple_tag
def state_badge(machine: str, state: str) -> SafeString:
    """A state as glyph, word and tone."""
    shown = badge(machine, state)
    return format_html(
        '<span class="badge tone-{}">{}<span>{}</span></span>',
        shown.tone.value,
        mark_safe(glyph_svg(shown.glyph)),  # noqa: S308 - a drawing of our own table
        shown.word,
    )


@register.simple_tag
def glyph(sign: str) -> SafeString:
    """A glyph alone, beside a word that says the same."""
    return mark_safe(glyph_svg(sign))  # noqa: S308 - a drawing of our own table


@register.simple_tag(takes_context=True)
def instant(context: Context, at: datetime | None, missing: str = "not yet") -> SafeString:
    """An instant as its age, which goes on in the browser; the whole instant is its title."""
    if at is None:
        return escape(missing)
    local = localtime(at)
    return _time(local, "ago", words.ago(local, _now(context)))


@register.simple_tag
def full_instant(at: datetime | None, missing: str = "not yet") -> SafeString:
    """An instant with its date and seconds, for journals."""
    if at is None:
        return escape(missing)
    local = localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), words.absolute(local), f"{local:%d %b %H:%M:%S}"
    )


@register.simple_tag(takes_context=True)
def countdown(context: Context, at: datetime | None, whom: str = "timer", missing: str = "no timer") -> SafeString:
    """The time left until an instant; `whom` is `person` or `timer`."""
    if at is None:
        return escape(missing)
    local = localtime(at)
    for_people = whom == "person"
    return _time(local, f"until-{whom}", words.countdown(local, _now(context), for_people=for_people))


def _time(local: datetime, clock: str, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}" data-clock="{}">{}</time>',
        local.isoformat(),
        words.absolute(local),
        clock,
        text,
    )


@register.simple_tag(takes_context=True)
def duration(context: Context, start: datetime | None, end: datetime | None = None) -> SafeString:
    """The time between two instants; without an end it is still running."""
    if start is None:
        return escape("not started")
    return escape(words.duration((end or _now(context)) - start))


@register.filter
def count(value: int) -> str:
    """A whole number in words."""
    return words.number(value)


@register.simple_tag
def counted(value: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return words.counted(value, one, many)


@register.filter
def money(value: int | None) -> str:
    """Dollars from µUSD."""
    return words.money(value)


@register.simple_tag
def sha(value: str, missing: str = "unknown") -> SafeString:
    """A commit, short on screen and whole when copied or hovered."""
    if not value:
        return format_html('<span class="dim">{}</span>', missing)
    return format_html('<code class="sha" title="{}" data-copy="{}">{}</code>', value, value, words.short_sha(value))


@register.filter
def short_id(value: str) -> str:
    """An id cut in the middle."""
    return words.short_id(value, 6)


@register.filter
def actor(value: str) -> str:
    """Who did it, in words: a person by name, a part of the machine by what it is."""
    kind, _, name = value.partition(":")
    if kind in {"operator", "user", "person"} and name:
        return name
    if kind == "flow" and name:
        return f"the {name.partition(':')[0]} flow"
    if kind in {"worker", "flow", "reaper", "poller", "timer", "clock"}:
        return f"the {kind} {name}".strip()
    return value or "unknown"


@register.filter
def words_of(value: str) -> str:
    """A stored name as people read it."""
    return value.replace("_", " ")


register.filter("words", words_of)


register.filter("edge_words", edge_sentence)
register.filter("sentence", words.sentence_case)


@register.filter
def warning(code: str) -> str:
    """A warning of a submission in words."""
    return WARNINGS.get(code, code.replace("_", " ").capitalize())


@register.filter
def question_mark(value: str) -> str:
    """The first characters of the hash of a question, by which people compare what they saw."""
    return value.removeprefix("sha256:")[:7]


@register.filter
def guards(edge: Edge) -> str:
    """The guards of an edge in words."""
    return " and ".join(guard_name(guard) for guard in edge.guards) or "always"


@register.simple_tag
def pull_url(pull: PullRequest) -> str:
    """The address of a pull request's page."""
    return pull_address(pull)


@register.filter
def outside(value: str) -> SafeString:
    """Text from outside, inert: escaped, hidden characters shown by their code point, line breaks kept."""
    return format_html_join("", "{}", ((_piece(text, is_mark=is_mark),) for text, is_mark in words.marked(value)))


def _piece(text: str, *, is_mark: bool) -> SafeString:
    return format_html('<span class="mark">{}</span>', text) if is_mark else escape(text)


@register.filter
def outside_text(value: str) -> SafeString:
    """As `outside`, with fenced blocks in mono and web addresses as links that show their whole target."""
    parts: list[SafeString] = []
    for number, block in enumerate(value.split("```")):
        if number % 2:
            body = block.split("\n", 1)[1] if "\n" in block else block
            parts.append(format_html('<pre class="code">{}</pre>', outside(body.rstrip("\n"))))
        elif block.strip():
            parts.append(format_html('<span class="prose">{}</span>', _linked(block.strip("\n"))))
    return mark_safe("".join(parts))  # noqa: S308 - every piece was escaped above


def _linked(text: str) -> SafeString:
    pieces: list[SafeString] = []
    position = 0
    for found in LINK.finditer(text):
        pieces.append(outside(text[position : found.start()]))
        pieces.append(format_html('<a href="{0}" rel="noopener noreferrer" target="_blank">{0}</a>', found.group()))
        position = found.end()
    pieces.append(outside(text[position:]))
    return mark_safe("".join(pieces))  # noqa: S308 - every piece was escaped above


@register.simple_tag
def bar(used: int, limit: int, label: str = "") -> SafeString:
    """A bar of used against limit, with its text as its name; tone from 80 % on."""
    share = min(1.0, used / limit) if limit > 0 else 0.0
    tone = "bad" if limit > 0 and used >= limit else "you" if share >= 0.8 else "move"  # noqa: PLR2004 - four fifths
    return format_html(
        '<svg class="bar tone-{}" role="img" aria-label="{}" viewBox="0 0 100 6" preserveAspectRatio="none">'
        '<rect class="bar-rest" width="100" height="6" rx="3"></rect>'
        '<rect class="bar-used" width="{}" height="6" rx="3"></rect></svg>',
        tone,
        label or f"{used} of {limit}",
        f"{share * 100:.0f}",
    )


@register.simple_tag(takes_context=True)
def region(context: Context) -> SafeString:
    """The attributes of the polled part of a page; without an interval it polls no more."""
    found: Any = context["live_region"]
    polled = SafeString("")
    if found.seconds:
        polled = format_html(
            ' data-live="{}" hx-get="{}" hx-trigger="live" hx-target="this" hx-swap="morph:outerHTML"',
            found.seconds,
            context["request"].get_full_path(),
        )
    return format_html('id="{}" data-etag="{}"{}', found.target, found.etag, polled)
