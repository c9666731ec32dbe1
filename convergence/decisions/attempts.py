"""How the run of a step ended, in the words that the guards know."""

from __future__ import annotations

AGENT_EXIT = "agent_exit"
ENVIRONMENT = "environment"


def attempt_word(outcome: str, cause: str, reason_code: str) -> str:
    """What the newest attempt says: ``environment`` or ``agent_exit`` when nobody finished, else its outcome."""
    if outcome == "failed":
        if reason_code == AGENT_EXIT:
            return AGENT_EXIT
        if cause == ENVIRONMENT:
            return ENVIRONMENT
        return reason_code or outcome
    return outcome
