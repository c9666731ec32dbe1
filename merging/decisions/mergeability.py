"""May this pull request land now? The one classification that poll, stall probe and merge effect share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.forge.checks import Check, Rollup, check_rollup
from merging.facts import Verdict

if TYPE_CHECKING:
    from convergence.forge.facts import PullFacts
    from merging.decisions.protocol import DeclaredCheck, Protocol

MERGEABLE_WORDS = frozenset({"CLEAN", "HAS_HOOKS", "UNSTABLE", "BEHIND"})
UNSETTLED_WORDS = frozenset({"", "UNKNOWN", "DRAFT"})
REVIEW_MISSING = frozenset({"REVIEW_REQUIRED", "CHANGES_REQUESTED"})

COMPUTING = "computing"
UNCLASSIFIED = "unclassified"
QUEUE = "queue"


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
    """Return what the reading of a pull request says about its mergeability.

    While the pull request still shows another head than its branch, checks and words are of the older one, and the
    head counts as unknown.
    """
    settled = pull.head_sha is not None and pull.head_sha == pull.head_ref_oid
    return MergeFacts(
        head=pull.head_sha if settled else None,
        base=pull.base_sha,
        draft=pull.is_draft,
        in_queue=bool(pull.in_merge_queue),
        merge_state=(pull.merge_state_status or "").strip().upper(),
        review_decision=(pull.review_decision or "").strip().upper(),
        checks=check_rollup(pull.contexts),
    )


def classify_mergeability(facts: MergeFacts, protocol: Protocol | None, *, admin: bool) -> Mergeability:
    """Return the first hit of the table. ``protocol`` is what the base declares, None while no valid one is known.

    The declared gate comes before the forge's word, because ``UNSTABLE`` hides a red check that the forge does not
    require. ``admin`` lifts a missing review and nothing else: where none is missing, something else blocks, such as a
    required check that never ran and that no list shows. Draft comes first of all, because a draft with green checks
    reads ``CLEAN``. A check of which the forge does not say whether it is required counts as required.
    """
    if not facts.checks.complete or not facts.head or not facts.base:
        return Mergeability(Verdict.WAITING, "unverifiable")
    if protocol is None:
        return Mergeability(Verdict.WAITING, "protocol_invalid")
    if facts.draft:
        return Mergeability(Verdict.DRAFT, "draft")
    if facts.in_queue:
        return Mergeability(Verdict.WAITING, QUEUE)
    return _declared_gate(facts.checks, protocol) or _forge_word(facts, admin=admin)


def _declared_gate(checks: Rollup, protocol: Protocol) -> Mergeability | None:
    """What the repository's own declaration says; None when it lets the head pass."""
    states = [declared_state(checks, declared) for declared in protocol.required_checks]
    if "failing" in states:
        return Mergeability(Verdict.BLOCKED, "checks_failing")
    if "running" in states:
        return Mergeability(Verdict.WAITING, "checks_pending")
    if "missing" in states:
        return Mergeability(Verdict.WAITING, "check_missing")
    if protocol.wait_for_checks and checks.failing:
        return Mergeability(Verdict.BLOCKED, "checks_failing")
    if protocol.wait_for_checks and checks.in_flight:
        return Mergeability(Verdict.WAITING, "checks_pending")
    return None


def _forge_word(facts: MergeFacts, *, admin: bool) -> Mergeability:
    if facts.merge_state in MERGEABLE_WORDS:
        return Mergeability(Verdict.READY)
    if facts.merge_state == "DIRTY":
        return Mergeability(Verdict.CONFLICT, "conflict")
    if facts.merge_state == "BLOCKED":
        return _blocked(facts, admin=admin)
    if facts.merge_state in UNSETTLED_WORDS:
        return Mergeability(Verdict.WAITING, COMPUTING)
    return Mergeability(Verdict.WAITING, UNCLASSIFIED)


def _blocked(facts: MergeFacts, *, admin: bool) -> Mergeability:
    if required(facts.checks.failing):
        return Mergeability(Verdict.BLOCKED, "checks_failing")
    if required(facts.checks.in_flight):
        return Mergeability(Verdict.WAITING, "checks_pending")
    if facts.review_decision in REVIEW_MISSING:
        return Mergeability(Verdict.READY, "admin") if admin else Mergeability(Verdict.WAITING, "review_required")
    return Mergeability(Verdict.WAITING, "branch_rules")


def declared_state(checks: Rollup, declared: DeclaredCheck) -> str:
    """How a declared check stands over every producer of its name: failing, running, missing or accepted."""
    named = checks.named(declared.name)
    if not named:
        return "missing"
    if any(not check.in_flight and _conclusion(check) not in declared.accepted for check in named):
        return "failing"
    return "running" if any(check.in_flight for check in named) else "accepted"


def _conclusion(check: Check) -> str:
    """The word with which a check ended; a commit status ends with its state."""
    return (check.status if check.is_status else check.conclusion or "").lower()


def required(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the checks that are required or of which the forge does not say."""
    return tuple(check for check in checks if check.required is not False)


def failing_checks(checks: Rollup, protocol: Protocol | None) -> tuple[Check, ...]:
    """The checks that hold a blocked head back, declared or required by the forge, in the order of their keys."""
    declared = protocol.required_checks if protocol else ()
    refused = {check for each in declared for check in checks.named(each.name) if _refused(check, each)}
    counted = checks.failing if protocol and protocol.wait_for_checks else required(checks.failing)
    return tuple(check for check in checks.checks if check in refused or check in counted)


def _refused(check: Check, declared: DeclaredCheck) -> bool:
    return not check.in_flight and _conclusion(check) not in declared.accepted


def change_mark(facts: MergeFacts, found: Mergeability) -> str:
    """Return a hash of all that restarts the stall clock: verdict, heads, review decision and check states."""
    states: list[Any] = sorted([*check.key, check.status, check.conclusion or ""] for check in facts.checks.checks)
    watched = [found.verdict, found.reason, facts.head, facts.base, facts.review_decision, states]
    return hashlib.sha256(json.dumps(watched).encode()).hexdigest()
