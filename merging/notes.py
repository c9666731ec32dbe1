"""What stands after the prompt of a repairing agent: text from outside as data, never as instruction. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_NAMED = 30


def failing_note(checks: Sequence[Mapping[str, Any]]) -> str:
    """Names and links of the failing checks; their logs are in the input."""
    lines = [
        f"{check['name']} ({check.get('producer') or 'unknown producer'}): {check.get('conclusion') or 'failed'} "
        f"{check.get('url') or ''}".rstrip()
        for check in checks[:MOST_NAMED]
    ]
    left = len(checks) - len(lines)
    text = "\n".join([*lines, *([f"and {left} more"] if left > 0 else [])]) or "none could be read"
    return "The checks that fail:\n" + quoted(text, author="continuous integration", standing="a program")


def conflict_note(*, head: str, base_ref: str, base_sha: str, merge_state: str) -> str:
    """What is to be brought together."""
    text = (
        f"head {head} and base {base_ref} at {base_sha or 'an unknown commit'}; GitHub says {merge_state or 'nothing'}"
    )
    return "What is to be brought together:\n" + quoted(text, author="the forge", standing="a program")
