"""What a verdict was made of, as people read it: ``CLEAN, 3 of 3 required green at 9f3c2e1``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merging.decisions.mergeability import MergeFacts, declared_state, required

if TYPE_CHECKING:
    from collections.abc import Mapping

    from merging.decisions.protocol import Protocol

MOST_NAMED = 20
SHORT_SHA = 7


def verdict_inputs(facts: MergeFacts, protocol: Protocol | None) -> dict[str, Any]:
    """The facts of a verdict as JSON: the forge's words, counts of checks, and how each declared check stands."""
    checks = facts.checks
    wanted = required(checks.checks)
    declared = protocol.required_checks if protocol else ()
    return {
        "mergeState": facts.merge_state,
        "reviewDecision": facts.review_decision,
        "head": facts.head or "",
        "draft": facts.draft,
        "complete": checks.complete,
        "checks": len(checks.checks),
        "required": len(wanted),
        "green": sum(1 for check in wanted if not check.failing and not check.in_flight),
        "failing": sum(1 for check in wanted if check.failing),
        "running": sum(1 for check in wanted if check.in_flight),
        "runningNames": [check.name for check in checks.in_flight][:MOST_NAMED],
        "declared": [{"name": check.name, "state": declared_state(checks, check)} for check in declared[:MOST_NAMED]],
    }


def inputs_sentence(inputs: Mapping[str, Any]) -> str:
    """One line of them; blank before the first verdict."""
    if not inputs:
        return ""
    parts = [str(inputs["mergeState"] or "no merge state")]
    if not inputs["complete"]:
        parts.append("not every check could be read")
    elif inputs["required"]:
        parts.append(f"{inputs['green']} of {inputs['required']} required green")
    else:
        parts.append("no check is required")
    declared = inputs["declared"]
    if declared:
        accepted = sum(1 for each in declared if each["state"] == "accepted")
        parts.append(f"{accepted} of {len(declared)} declared accepted")
    head = str(inputs["head"])
    return ", ".join(parts) + (f" at {head[:SHORT_SHA]}" if head else ", head not settled")
