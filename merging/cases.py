"""What a question to a person is about, gathered from rows and the reading at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.forge.checks import check_rollup
from merging.decisions.dependencies import CYCLE, Standing
from merging.decisions.inputs import inputs_sentence
from merging.decisions.mergeability import failing_checks
from merging.flow import MergeState
from merging.models import Dependency
from merging.requests import FIX_CI, REBASE
from merging.texts import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convergence.forge.facts import PullFacts
    from convergence.models import PullRequest
    from merging.decisions.protocol import Protocol
    from merging.models import MergeFlow

LISTED_ATTEMPTS = 5
AGENT_NAMES: dict[str, str] = {MergeState.FIXING_CI: FIX_CI, MergeState.REBASING: REBASE}


def case_of(
    row: MergeFlow,
    pull: PullRequest,
    read: PullFacts | None,
    words: str = "",
    *,
    protocol: Protocol | None = None,
    dependencies: Sequence[str] = (),
    asked: str = "",
) -> Case:
    """Return the case of a question that is asked now; ``words`` are the forge's, else those of the last attempt."""
    known = read is not None and read.contexts is not None
    failing = failing_checks(check_rollup(read.contexts), protocol) if read is not None and known else ()
    attempts = list(row.attempts.order_by("-id")[:LISTED_ATTEMPTS])
    said = words or next((attempt.message for attempt in attempts if attempt.message), "")
    return Case(
        key=pull.key,
        url=pull.url,
        title=pull.title,
        head=(read.head_sha if read else None) or row.verdict_head or pull.head_sha,
        base_ref=read.base_ref if read else row.base_ref,
        verdict=row.verdict,
        verdict_reason=row.verdict_reason,
        inputs=inputs_sentence(row.verdict_inputs),
        failing=tuple((check.name, check.url or "") for check in failing),
        attempts=tuple(
            f"{attempt.outcome or 'sent'}, {attempt.reason or 'not read back'}: "
            f"{attempt.expected_head[:7]} {attempt.message}".rstrip()
            for attempt in attempts
        ),
        counters=dict(counters_of(row).items()),
        dependencies=dependencies,
        landed_sha=(read.merge_commit_sha if read else "") or "",
        words=said,
        doc=protocol.doc if protocol else "",
        agent=AGENT_NAMES.get(row.state, ""),
        asked=asked,
    )


def asked_dependencies(pull: PullRequest, reason: str) -> tuple[str, ...]:
    """The dependencies that a question of this reason is about."""
    rows = Dependency.objects.in_the_way().filter(pull=pull).order_by("id")
    if reason == "dependency_closed":
        return tuple(row.reference for row in rows if row.standing == Standing.DEAD)
    if reason == "dependency_cycle":
        return tuple(row.reference for row in rows if row.note == CYCLE)
    return ()


def counters_of(row: MergeFlow) -> dict[str, tuple[int, int]]:
    """Return each counter of the flow with its limit, in the API's names."""
    return {
        "ciFix": (row.ci_fixes, row.ci_fix_max),
        "rebase": (row.rebases, row.rebase_max),
        "mergeRetry": (row.merge_retries, row.merge_retry_max),
        "eviction": (row.evictions, row.eviction_max),
        "stall": (row.stalls, row.stall_max),
        "returns": (row.returns, row.return_max),
    }
