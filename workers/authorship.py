"""Who makes the commits of agents: the policy's word, else what the app that knows the forge says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runs.policy import policy


@dataclass(frozen=True, slots=True)
class Author:
    """Name and address as they stand in a commit."""

    name: str
    email: str


NOBODY = Author("factory", "factory@users.noreply.github.com")  # while the own login is not known
Provider = Callable[[], Author | None]
_provider: list[Provider] = []


def register_author(provider: Provider) -> None:
    """Have the own account asked of ``provider``, which answers soon; None while it is not known."""
    _provider[:] = [provider]


def git_author() -> Author:
    """The author in force; a name or address that the policy states wins, each by itself."""
    stated = policy().git
    if stated.name and stated.email:
        return Author(stated.name, stated.email)
    own = (_provider[0]() if _provider else None) or NOBODY
    return Author(stated.name or own.name, stated.email or own.email)
