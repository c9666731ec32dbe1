"""The form with which a person answers a question of convergence. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.texts import short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.texts import Question

MOST_EXTRA_ROUNDS = 20
EXTRA_ROUNDS_REASONS = frozenset({"round_cap", "churn"})


def answer_form(question: Question) -> dict[str, Any]:
    """The form of a question of convergence; ``{"answer": "…"}`` alone completes it."""
    fields: list[Mapping[str, Any]] = [
        {
            "id": "resolution",
            "kind": "choice",
            "label": "What now",
            "default": "retry",
            "choices": [
                {
                    "id": "retry",
                    "label": "Go on",
                    "description": "The agent works with your answer.",
                    "tone": "primary",
                },
                {
                    "id": "abandon",
                    "label": "Abandon",
                    "description": "The product lets go of the pull request; it stays open on GitHub.",
                    "tone": "danger",
                },
            ],
        },
        {
            "id": "answer",
            "kind": "long_text",
            "label": "Answer",
            "help": "The agent gets this word for word.",
            "requiredWhen": {"resolution": ["retry"]},
        },
    ]
    if question.reason in EXTRA_ROUNDS_REASONS:
        fields.append(
            {
                "id": "extraRounds",
                "kind": "number",
                "label": "Extra rounds",
                "integer": True,
                "minimum": 0,
                "maximum": MOST_EXTRA_ROUNDS,
                "proposed": 1,
            }
        )
    if question.may_waive:
        fields.append(
            {
                "id": "waive",
                "kind": "boolean",
                "label": "Let it pass",
                "help": f"Exactly what is listed, at {short(question.waive_head)}; a new commit is not covered.",
                "default": False,
            }
        )
    return {"fields": fields}
