"""What pages and the API show of a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.checks import check_rollup
from convergence.forge.facts import Profile, PullFacts
from convergence.models import ForgeSnapshot
from merging.cases import counters_of
from merging.decisions.inputs import inputs_sentence
from merging.decisions.mergeability import failing_checks
from merging.looks.protocol import stored_protocol
from merging.models import Dependency, MergeAttempt, MergeFlow, MergeHold, MergeProtocol
from merging.selectors.dependencies import dependency_shown
from merging.selectors.lanes import lane_shown

if TYPE_CHECKING:
    from convergence.models import PullRequest


def merge_flow_of(pull: PullRequest, generation: int | None = None) -> MergeFlow | None:
    """The merge flow of a generation, by default of the present one."""
    wanted = pull.generation if generation is None else generation
    return MergeFlow.rows().filter(pull=pull, generation=wanted).first()


def merge_detail(pull: PullRequest) -> dict[str, Any]:
    """The keys that merging adds to a pull request's detail in the API; what is not known yet is null or empty."""
    flow = merge_flow_of(pull)
    protocol = merge_protocol_of(pull, flow)
    return {
        "mergeability": _mergeability(pull, flow, protocol),
        "mergeAttempts": [_attempt(row) for row in MergeAttempt.objects.filter(pull=pull).order_by("-id")[:50]],
        "counters": {
            name: {"now": now, "max": most} for name, (now, most) in (counters_of(flow) if flow else {}).items()
        },
        "dependencies": [dependency_shown(row) for row in Dependency.objects.filter(pull=pull).order_by("id")],
        "lane": lane_shown(pull),
        "holds": [
            {"kind": hold.kind, "group": hold.group, "setBy": hold.set_by, "setAt": hold.set_at}
            for hold in MergeHold.objects.filter(pull=pull, released_at__isnull=True).order_by("id")
        ],
        "mergeProtocol": _protocol(protocol),
        "landedSha": flow.landed_sha or None if flow else None,
        "baseRef": (flow.base_ref if flow else "") or pull.base_ref or None,
    }


def merge_protocol_of(pull: PullRequest, flow: MergeFlow | None) -> MergeProtocol | None:
    """The declaration of the base that the pull request goes into, as read last."""
    base = (flow.base_ref if flow else "") or pull.base_ref
    return MergeProtocol.objects.filter(repository_id=pull.repository.forge_id, base_ref=base).first()


def _protocol(row: MergeProtocol | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "source": row.source or None,
        "valid": row.valid,
        "error": row.error or None,
        "warnings": row.warnings,
        "readAt": row.read_at,
    }


def _mergeability(pull: PullRequest, flow: MergeFlow | None, protocol: MergeProtocol | None) -> dict[str, Any] | None:
    if flow is None or not flow.verdict:
        return None
    return {
        "verdict": flow.verdict,
        "reason": flow.verdict_reason or None,
        "readAt": flow.verdict_at,
        "headSha": flow.verdict_head,
        "inputs": inputs_sentence(flow.verdict_inputs) or None,
        "failingChecks": _failing_checks(pull, flow.verdict_head, protocol),
        "declaredChecks": flow.verdict_inputs.get("declared", []),
    }


def _failing_checks(pull: PullRequest, head: str, protocol: MergeProtocol | None) -> list[dict[str, Any]]:
    """The checks that hold the head back, of its last reading."""
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
        for check in failing_checks(check_rollup(read.contexts), stored_protocol(protocol) if protocol else None)
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
