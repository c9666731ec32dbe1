"""Reviewers as the policy names them: one form for each adapter, checked key by key."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from runs.policy.forms import Block

ADAPTERS = frozenset({"copilot", "bot", "person", "team"})
Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?(?:\[bot\])?$")]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]


class CopilotEntry(Block):
    """GitHub Copilot; it needs no key but its name."""

    adapter: Literal["copilot"]
    name: Name


class Ask(Block):
    """How a bot is asked: as a requested reviewer, or by what a comment says."""

    login: Login | None = None
    comment: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.login is None) == (self.comment is None):
            raise ValueError("say either login or comment; leave request out if it reviews by itself")
        return self


class BotEntry(Block):
    """A bot of any make, known by its logins; without ``request`` it reviews by itself."""

    adapter: Literal["bot"]
    name: Name
    logins: Annotated[tuple[Login, ...], Field(min_length=1, max_length=20)]
    request: Ask | None = None


class PersonEntry(Block):
    """One person."""

    adapter: Literal["person"]
    name: Name
    login: Login


class TeamEntry(Block):
    """A team, as ``organisation/slug``."""

    adapter: Literal["team"]
    name: Name
    team: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")]


ReviewerEntry = Annotated[CopilotEntry | BotEntry | PersonEntry | TeamEntry, Field(discriminator="adapter")]


def _each_name_once(entries: tuple[ReviewerEntry, ...]) -> tuple[ReviewerEntry, ...]:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise ValueError(f"the name {entry.name!r} stands there twice; give each reviewer its own")
        seen.add(entry.name)
    return entries


ReviewerList = Annotated[tuple[ReviewerEntry, ...], Field(max_length=20), AfterValidator(_each_name_once)]
