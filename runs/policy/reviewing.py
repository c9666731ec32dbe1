"""Trust, convergence, commits and the forge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runs.policy.forms import Block


class Trust(Block):
    """Whose words may trigger work."""

    associations: tuple[str, ...] = ("OWNER", "MEMBER", "COLLABORATOR")
    authors: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Convergence(Block):
    """How a pull request is driven."""

    advisories: Literal["newest", "all"] = "newest"
    scope_check: Literal["always", "closing", "never"] = "always"
    skip_empty_review: bool = True
    churn_rounds: Annotated[int, Field(ge=0, le=100)] = 4
    on_reviewer_unavailable: Literal["proceed", "escalate"] = "proceed"


class Git(Block):
    """The author of commits."""

    name: str = ""
    email: str = ""


class Forge(Block):
    """How the forge is read and written."""

    max_batch: Annotated[int, Field(ge=6, le=100)] = 50
    max_in_flight: Annotated[int, Field(ge=1, le=20)] = 4
    reserve_percent: Annotated[int, Field(ge=5, le=50)] = 20
    writes_per_minute: Annotated[int, Field(ge=1, le=80)] = 60
    writes_per_hour: Annotated[int, Field(ge=1, le=500)] = 400
