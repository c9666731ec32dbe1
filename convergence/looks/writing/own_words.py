"""What the agent returned to be said on the forge, as effects: replies, resolutions, acknowledgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.decisions.agent_result import AckAnswer, ThreadAnswer
from runs.flows.move import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from convergence.decisions.agent_result import AgentVerdict
    from convergence.models import RoundTurn


def said_now(verdict: AgentVerdict, backlog: Mapping[str, Any]) -> tuple[Effect, ...]:
    """Everything that the result of this moment says."""
    return (*thread_effects(verdict.threads), *ack_effects(verdict.acks, backlog))


def said_then(turn: RoundTurn | None) -> tuple[Effect, ...]:
    """Everything that the turn's recorded result says."""
    if turn is None:
        return ()
    threads = (ThreadAnswer(**answer) for answer in turn.replies)
    return (*thread_effects(threads), *ack_effects((AckAnswer(**answer) for answer in turn.acks), turn.backlog))


def thread_effects(answers: Iterable[ThreadAnswer], *, resolve: bool = True) -> tuple[Effect, ...]:
    """Replies and resolutions as effects, each thread's reply before its resolution."""
    effects = []
    for answer in answers:
        if answer.reply:
            effects.append(Effect("reply", {"thread_id": answer.id, "body": answer.reply}))
        if resolve and answer.resolve:
            effects.append(Effect("resolve", {"thread_id": answer.id}))
    return tuple(effects)


def ack_effects(answers: Iterable[AckAnswer], backlog: Mapping[str, Any]) -> tuple[Effect, ...]:
    """One effect for each acknowledged advisory of the backlog."""
    paths = {str(each["id"]): str(each["path"]) for each in backlog.get("advisories", [])}
    known = [answer for answer in answers if answer.id in paths]
    return tuple(Effect("acknowledge", {"path": paths[answer.id], **answer.as_json()}) for answer in known)
