"""May this pull request land now? The one classification that poll, stall probe and merge effect share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.forge.checks import Check, Rollup, check_rollup
from merging.guards import Verdict

if TYPE_CHECKING:
    from convergence.forge.facts import PullFacts

MERGEABLE_WORDS = frozenset({"CLEAN", "HAS_HOOKS", "UNSTABLE", "BEHIND"})
UNSETTLED_WORDS = frozenset({"", "UNKNOWN", "DRAFT"})
REVIEW_MISSING = frozenset({"REVIEW_REQUIRED", "CHANGES_REQUESTED"})

COMPUTING = "computing"


@dataclass(frozen=True, slots=True)
class MergeFacts:
    """What a verdict is made of, all of one head. ``merge_state`` and ``review_decision`` are the forge's own words."""

    head: str | None
    base: str | None
    draft: bool
    in_queue: bool
    merge_state: str
    review_decision: str
    checks: Rollup


@dataclass(frozen=True, slots=True)
class Mergeability:
    """The verdict and its reason; the reason of a plain ``ready`` is blank."""

    verdict: Verdict
    reason: str = ""


def merge_facts(pull: PullFacts) -> MergeFacts:
    """Return what the reading of a pull request says about its mergeability."""
    return MergeFacts(
        head=pull.head_sha,
        base=pull.base_sha,
        draft=pull.is_draft,
        in_queue=bool(pull.in_merge_queue),
        merge_state=(pull.merge_state_status or "").strip().upper(),
        review_decision=(pull.review_decision or "").strip().upper(),
        checks=check_rollup(pull.contexts),
    )


def classify_mergeability(facts: MergeFacts, *, admin: bool) -> Mergeability:
    """Return the first hit of the table. ``admin`` lifts the forge's review rule and nothing else.

    Draft comes before the forge's word, because a draft with green checks reads ``CLEAN``. A check of which the forge
    does not say whether it is required counts as required.
    """
    if not facts.checks.complete or not facts.head or not facts.base:
        return Mergeability(Verdict.WAITING, "unverifiable")
    if facts.draft:
        return Mergeability(Verdict.DRAFT, "draft")
    if facts.in_queue:
        return Mergeability(Verdict.WAITING, "queue")
    if facts.merge_state in MERGEABLE_WORDS:
        return Mergeability(Verdict.READY)
    if facts.merge_state == "DIRTY":
        return Mergeability(Verdict.CONFLICT, "conflict")
    if facts.merge_state == "BLOCKED":
        return _blocked(facts, admin=admin)
    if facts.merge_state in UNSETTLED_WORDS:
        return Mergeability(Verdict.WAITING, COMPUTING)
    return Mergeability(Verdict.WAITING, "unclassified")


def _blocked(facts: MergeFacts, *, admin: bool) -> Mergeability:
    if required(facts.checks.failing):
        return Mergeability(Verdict.BLOCKED, "checks_failing")
    if required(facts.checks.in_flight):
        return Mergeability(Verdict.WAITING, "checks_pending")
    if admin:
        return Mergeability(Verdict.READY, "admin")
    if facts.review_decision in REVIEW_MISSING:
        return Mergeability(Verdict.WAITING, "review_required")
    return Mergeability(Verdict.WAITING, "branch_rules")


def required(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the checks that are required or of which the forge does not say."""
    return tuple(check for check in checks if check.required is not False)


def change_mark(facts: MergeFacts, found: Mergeability) -> str:
    """Return a hash of all that restarts the stall clock: verdict, heads, review decision and check states."""
    states: list[Any] = sorted([*check.key, check.status, check.conclusion or ""] for check in facts.checks.checks)
    watched = [found.verdict, found.reason, facts.head, facts.base, facts.review_decision, states]
    return hashlib.sha256(json.dumps(watched).encode()).hexdigest()
