"""The form in which a merge question is answered. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merging.texts import ADDED

if TYPE_CHECKING:
    from collections.abc import Sequence

LET_GO = "The product lets go of the pull request; it stays as it is on GitHub."
CHOICES: dict[str, dict[str, str]] = {
    "approve": {"label": "Approve this head", "description": "Merge exactly this head.", "tone": "primary"},
    "reject": {"label": "Reject", "description": LET_GO, "tone": "danger"},
    "drop_dependency": {"label": "Drop the dependency", "description": "Merge without waiting for it."},
    "abandon": {"label": "Abandon", "description": LET_GO, "tone": "danger"},
}
MOST_CHOICES = 20


def merge_form(reason: str, dependencies: Sequence[str] = ()) -> dict[str, Any]:
    """Return the form of a question; ``{"answer": "…"}`` alone is a plain retry.

    ``dependencies`` are those that may be dropped, for the questions that offer it.
    """
    retry = "Look for the landed commit again." if reason == "landing_unverified" else "Look anew and merge when ready."
    choices = [{"id": "retry", "label": "Try again", "description": retry, "tone": "primary"}]
    choices += [{"id": name, **CHOICES[name]} for name in (*ADDED.get(reason, ()), "abandon")]
    fields: list[dict[str, Any]] = [
        {"id": "resolution", "kind": "choice", "label": "What now", "default": "retry", "choices": choices},
        {
            "id": "answer",
            "kind": "long_text",
            "label": "Answer",
            "help": "What you decided or did, for the record and for the next agent.",
            "requiredWhen": {"resolution": ["retry"]},
        },
    ]
    if "drop_dependency" in ADDED.get(reason, ()) and dependencies:
        listed = [{"id": each, "label": each} for each in dependencies[:MOST_CHOICES]]
        fields.append(
            {
                "id": "dependency",
                "kind": "choice",
                "label": "Dependency to drop",
                "choices": listed,
                "requiredWhen": {"resolution": ["drop_dependency"]},
            }
        )
    return {"fields": fields}
