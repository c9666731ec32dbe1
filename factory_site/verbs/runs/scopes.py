"""The flags that name what a pause covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.models import PauseScope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser


def scope_flags(parser: CommandParser) -> None:
    """Everything unless a repository or an agent is named."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--repository", metavar="R", default="", help="owner/repo; without it and --agent: everything")
    which.add_argument("--agent", metavar="A", default="", help="the id of an agent, such as pr-review")


def pause_scope(options: Mapping[str, Any]) -> tuple[PauseScope, str]:
    """The scope and key that the flags name."""
    if options["repository"]:
        return PauseScope.REPOSITORY, options["repository"]
    if options["agent"]:
        return PauseScope.AGENT, options["agent"]
    return PauseScope.GLOBAL, ""
