"""What a limit says to people: its name, who set it, since when, and what would move it. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from runs.models import PauseScope, SpendScope
from runs.queue.limits.balance import MICRO
from runs.queue.limits.blocking import BlockCode

if TYPE_CHECKING:
    from runs.models import Pause
    from runs.queue.limits.balance import Balance
    from runs.queue.limits.blocking import Cap

RESUME_FLAGS = {PauseScope.GLOBAL: "", PauseScope.REPOSITORY: " --repository {key}", PauseScope.AGENT: " --agent {key}"}
RAISE_FLAGS = {SpendScope.DAY: "--day", SpendScope.SUBJECT: "--subject {key}", SpendScope.RUN: "--run {key}"}
CAP_WORDS = {
    BlockCode.WEIGHT_CLASS_FULL: ("weight class {name}", "weightClasses.{name}.max"),
    BlockCode.REPOSITORY_FULL: ("repository {name}", "limits.perRepository"),
    BlockCode.AGENT_FULL: ("agent {name}", "limits.perAgent.{name}"),
}


def who(actor: str) -> str:
    """A person as others call them; any other actor as it is recorded."""
    return actor.removeprefix("operator:")


def pause_name(pause: Pause) -> str:
    """What the pause covers."""
    return {PauseScope.GLOBAL: "everything", PauseScope.AGENT: f"agent {pause.key}"}.get(
        PauseScope(pause.scope), pause.key
    )


def pause_sentence(pause: Pause) -> str:
    """What is paused, since when, by whom, why, and until when or how it is lifted."""
    said = f"{pause_name(pause)} is paused since {_instant(pause.since)} by {who(pause.actor)}: “{pause.reason}”"
    if pause.until is not None:
        return f"{said}; until {_instant(pause.until)}"
    return f"{said}; lift it with: {resume_command(pause)}"


def resume_command(pause: Pause) -> str:
    """The command that lifts this pause."""
    return f"manage.py runs resume{RESUME_FLAGS[PauseScope(pause.scope)].format(key=pause.key)}"


def cap_name(cap: Cap) -> str:
    """What the cap counts."""
    name = CAP_WORDS[cap.code][0].format(name=cap.name)
    return f"{name} on node {cap.node}" if cap.node else name


def cap_sentence(cap: Cap, used: int) -> str:
    """Which cap is reached, and the two things that move it."""
    key = f"weightClasses.{cap.name}.perNode" if cap.node else CAP_WORDS[cap.code][1].format(name=cap.name)
    return f"{cap_name(cap)} is full: {used} of {cap.limit} run; goes when one ends, or when {key} allows more"


def budget_sentence(scope: SpendScope, key: str, balance: Balance) -> str:
    """Whose budget is used up, by how much, and how it goes on. ``key`` is a label where there is one."""
    if scope == SpendScope.DAY:
        words = f"the budget of today is used up: {used_words(balance)}"
        return f"{words}; begins anew at 00:00 UTC, or after: {raise_command(scope)}"
    name = f"the budget of {key}" if scope == SpendScope.SUBJECT else "its own budget"
    return f"{name} is used up: {used_words(balance)}; goes on after: {raise_command(scope, key)}"


def raise_command(scope: SpendScope, key: str = "") -> str:
    """The command that adds to this limit."""
    return f"manage.py runs raise {RAISE_FLAGS[scope].format(key=key)} --usd N --reason TEXT"


def used_words(balance: Balance) -> str:
    """What is used of what is allowed, on the sides that have a limit; what is reserved is named."""
    allowed, used = balance.allowed, balance.used
    sides = []
    if allowed.micro_usd is not None:
        sides.append(f"{dollars(used.micro_usd)} of {dollars(allowed.micro_usd)} USD")
    if allowed.tokens is not None:
        sides.append(f"{used.tokens:,} of {allowed.tokens:,} tokens")
    words = " and ".join(sides) or f"{dollars(used.micro_usd)} USD, without a limit"
    return f"{words} ({dollars(balance.reserved.micro_usd)} USD reserved)" if balance.reserved.micro_usd else words


def dollars(micro_usd: int) -> str:
    """Dollars with cents, which whole amounts leave out."""
    return f"{micro_usd // MICRO:,}" if micro_usd % MICRO == 0 else f"{micro_usd / MICRO:,.2f}"


def next_day(at: datetime) -> datetime:
    """The instant at which the UTC day of this one ends."""
    return datetime.combine(at.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
