"""How a converged pull request lands."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from runs.policy.forms import Block, Duration


class Squash(Block):
    """The commit that a squash makes."""

    title: Annotated[str, Field(min_length=1, max_length=250)] = "{title} (#{number})"
    body: Literal["pr_body", "empty", "commits"] = "pr_body"


class Merging(Block):
    """How a converged pull request lands."""

    review_after: Literal["foreign_push", "any_push", "never"] = "foreign_push"
    max_returns: Annotated[int, Field(ge=0, le=20)] = 3
    queue_timeout: Duration = timedelta(hours=6)
    pending_checks_timeout: Duration = timedelta(hours=6)
    approval_bases: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = ()
    delete_branches: bool = False
    squash: Squash = Squash()
