"""What pages and the API show of a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.checks import check_rollup
from convergence.forge.facts import Profile, PullFacts
from convergence.models import ForgeSnapshot
from merging.cases import counters_of
from merging.decisions.mergeability import required
from merging.models import MergeAttempt, MergeFlow

if TYPE_CHECKING:
    from convergence.models import PullRequest


def merge_flow_of(pull: PullRequest, generation: int | None = None) -> MergeFlow | None:
    """The merge flow of a generation, by default of the present one."""
    wanted = pull.generation if generation is None else generation
    return MergeFlow.rows().filter(pull=pull, generation=wanted).first()


def merge_detail(pull: PullRequest) -> dict[str, Any]:
    """The keys that merging adds to a pull request's detail in the API; what is not known yet is null or empty."""
    flow = merge_flow_of(pull)
    return {
        "mergeability": _mergeability(pull, flow),
        "mergeAttempts": [_attempt(row) for row in MergeAttempt.objects.filter(pull=pull).order_by("-id")[:50]],
        "counters": {
            name: {"now": now, "max": most} for name, (now, most) in (counters_of(flow) if flow else {}).items()
        },
        "landedSha": flow.landed_sha or None if flow else None,
        "baseRef": (flow.base_ref if flow else "") or pull.base_ref or None,
    }


def _mergeability(pull: PullRequest, flow: MergeFlow | None) -> dict[str, Any] | None:
    if flow is None or not flow.verdict:
        return None
    return {
        "verdict": flow.verdict,
        "reason": flow.verdict_reason or None,
        "readAt": flow.verdict_at,
        "headSha": flow.verdict_head,
        "failingChecks": _failing_checks(pull, flow.verdict_head),
        "declaredChecks": [],
    }


def _failing_checks(pull: PullRequest, head: str) -> list[dict[str, Any]]:
    """The failing required checks of the last reading of this head."""
    snapshot = ForgeSnapshot.objects.filter(pull=pull, profile=Profile.MERGE).first()
    read = PullFacts.from_json(snapshot.facts) if snapshot else None
    if read is None or read.head_sha != head:
        return []
    return [
        {
            "name": check.name,
            "producer": check.producer,
            "conclusion": check.conclusion or check.status,
            "url": check.url,
        }
        for check in required(check_rollup(read.contexts).failing)
    ]


def _attempt(row: MergeAttempt) -> dict[str, Any]:
    return {
        "outcome": row.outcome or None,
        "reason": row.reason or None,
        "method": row.method or None,
        "methodReason": row.method_reason or None,
        "headSha": row.expected_head,
        "admin": row.admin,
        "landedSha": row.landed_sha or None,
        "actor": row.actor or None,
        "message": row.message or None,
        "sentAt": row.sent_at,
        "at": row.at,
    }
