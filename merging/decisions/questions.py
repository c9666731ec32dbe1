"""When a question to a person has become pointless: what was true when it was asked against what is true now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from merging.facts import Verdict


class Asked(Protocol):
    """What was true when a question was asked: verdict, head, tip of the base, name of the base."""

    @property
    def asked_verdict(self) -> str:
        """The verdict then."""

    @property
    def asked_head(self) -> str:
        """The head then."""

    @property
    def asked_base_sha(self) -> str:
        """The tip of the base then."""

    @property
    def base_ref(self) -> str:
        """The name of the base then."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The same as read now; ``None`` is unknown."""

    verdict: Verdict | None = None
    head: str | None = None
    base: str | None = None
    base_ref: str = ""
    draft: bool = False
    in_queue: bool = False
    dependency_dead: bool = False
    dependency_cyclic: bool = False


READY_AGAIN = frozenset({"checks_failing", "conflict", "agent_question", "agent_sla", "stalled", "evicted_too_often"})
SPENT = frozenset({"merge_retries_spent", "merge_refused"})


def reason_is_gone(reason: str, *, asked: Asked, seen: Seen) -> bool:
    """Whether what an open question is about has gone away, on facts that were read.

    A verdict that is not settled changes nothing: ``waiting`` may be GitHub still computing.
    """
    if reason in READY_AGAIN:  # asked about one that was ready, that it is ready proves nothing
        return seen.verdict is Verdict.READY and asked.asked_verdict != Verdict.READY
    if reason in SPENT:
        settled = seen.verdict not in {None, Verdict.WAITING}
        moved = seen.base is not None and seen.base != asked.asked_base_sha and seen.verdict is Verdict.READY
        return (settled and seen.verdict != asked.asked_verdict) or moved
    if reason == "draft":
        return seen.verdict is not None and not seen.draft
    if reason == "dead_end_base":
        return seen.base_ref != asked.base_ref
    if reason == "approval_required":
        return seen.head is not None and seen.head != asked.asked_head
    if reason == "dependency_closed":
        return not seen.dependency_dead
    if reason == "dependency_cycle":
        return not seen.dependency_cyclic
    if reason == "dequeued":
        return seen.in_queue
    if reason == "unreachable":
        return seen.head is not None
    return False
