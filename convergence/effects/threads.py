"""Replying in a thread and resolving it, on behalf of the agent that said so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.forge_access import forge_client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.flows.registry import EffectCall


def reply(call: EffectCall) -> Mapping[str, Any]:
    """Post the reply; ``gone`` when the thread is."""
    return _done(call, "reply")


def resolve(call: EffectCall) -> Mapping[str, Any]:
    """Resolve the thread; ``already_done`` when somebody did."""
    return _done(call, "resolve_thread")


def _done(call: EffectCall, operation: str) -> Mapping[str, Any]:
    observed = write_performed(forge_client(), call, operation, call.arguments)
    return {"outcome": observed.outcome, **observed.detail}
