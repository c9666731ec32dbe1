"""Subjects: a stable reference for rows, and a label that people read; apps register how one leads to the other."""

from __future__ import annotations

from collections.abc import Callable

Resolver = Callable[[str], str | None]
_resolvers: list[Resolver] = []


def register_resolver(resolver: Resolver) -> None:
    """Have ``resolver(label)`` asked for the reference of a label; None when it knows nothing of it."""
    if resolver not in _resolvers:
        _resolvers.append(resolver)


def subject_reference(name: str) -> str:
    """The reference of a name given from outside; a name that nobody knows is its own reference."""
    for resolver in _resolvers:
        reference = resolver(name)
        if reference is not None:
            return reference
    return name
