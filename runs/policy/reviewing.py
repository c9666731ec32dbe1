"""Reviewers, trust, convergence and the forge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runs.policy.forms import Block


class Reviewer(Block):
    """One reviewer that a pull request is driven against."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    adapter: Literal["copilot"]


class Trust(Block):
    """Whose words may trigger work."""

    associations: tuple[str, ...] = ("OWNER", "MEMBER", "COLLABORATOR")
    authors: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Convergence(Block):
    """How a pull request is driven; the values that need a later version are refused."""

    advisories: Literal["off"] = "off"
    scope_check: Literal["never"] = "never"
    skip_empty_review: bool = True
    churn_rounds: Annotated[int, Field(ge=0, le=0)] = 0
    on_reviewer_unavailable: Literal["proceed", "escalate"] = "proceed"


class Git(Block):
    """The author of commits."""

    name: str = ""
    email: str = ""


class Forge(Block):
    """How the forge is read."""

    max_batch: Annotated[int, Field(ge=6, le=100)] = 50
