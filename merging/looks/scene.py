"""What one look knows of one row: the reading, the base's declaration, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from convergence.forge.facts import PullFacts, PullState
from convergence.looks.reading import seen_of
from convergence.services.escalations import escalation_current
from convergence.services.identity import pull_missing, pull_seen, snapshot_kept
from merging.decisions.inputs import verdict_inputs
from merging.decisions.mergeability import Mergeability, MergeFacts, classify_mergeability, merge_facts
from merging.effects.plan import admin_on
from merging.facts import Verdict
from merging.flow import MergeState
from merging.looks.due import Due
from merging.looks.protocol import protocol_of
from merging.models import OwnHead
from runs.contract.errors import FactoryError, NotFound
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import TimelineEvent
    from convergence.guards import PullSeen
    from convergence.models import Escalation, PullRequest
    from merging.decisions.agent_result import AgentAnswer
    from merging.decisions.dependencies import Reference
    from merging.decisions.protocol import Protocol
    from merging.models import MergeFlow
    from runs.policy import Merging


@dataclass(slots=True)
class Scene:
    """One row in one look. ``columns`` is what the look itself writes, whether or not an edge is taken."""

    row: MergeFlow
    pull: PullRequest
    client: ForgeClient
    now: datetime
    read: PullFacts | None = None
    error: FactoryError | None = None
    protocol: Protocol | None = None
    merge: MergeFacts | None = None
    found: Mergeability | None = None
    escalation: Escalation | None = None
    agent: AgentAnswer | None = None  # how the run of an agent state ended
    references: list[Reference] = field(default_factory=list)  # that it names and that can be waited for
    held: str = ""  # what of the product's own keeps a ready pull request from merging
    due: Due = Due()  # noqa: RUF009  # frozen; the remedies that are due
    removal: TimelineEvent | None = None  # from the merge queue
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Merging:
        """The policy of the repository."""
        return policy().merging_for(self.pull.repository.full_name)

    @property
    def seen(self) -> PullSeen:
        """How the pull request was found."""
        return seen_of(self.read, self.error)

    @property
    def open(self) -> PullFacts | None:
        """The reading, if the pull request was read and is open."""
        return self.read if self.read is not None and self.read.state is PullState.OPEN else None

    @property
    def head(self) -> str | None:
        """The commit that the branch points at, as read in this look; None when unread or gone."""
        return self.read.head_sha if self.read else None


def scene_of(
    client: ForgeClient,
    row: MergeFlow,
    pull: PullRequest,
    outcome: PullFacts | FactoryError,
    now: datetime,
    *,
    warnings: Sequence[str] | None = None,
) -> Scene:
    """Take over what was read of the pull request; writes its columns, and the first own head if there is none.

    ``warnings`` is what of its body names no pull request, None when the body was not followed.
    """
    scene = Scene(row=row, pull=pull, client=client, now=now)
    if isinstance(outcome, NotFound):
        scene.error = outcome
        pull_missing(pull, now)
    elif isinstance(outcome, FactoryError):
        scene.error = outcome
    else:
        scene.read = outcome
        pull_seen(pull, outcome, now)
        snapshot_kept(pull, outcome)
        if outcome.head_sha and not row.own_heads.exists():
            OwnHead.objects.get_or_create(flow=row, sha=outcome.head_sha, defaults={"source": "first_read"})
    if warnings is not None:
        scene.columns["dependency_warnings"] = list(warnings)
    if row.state == MergeState.ESCALATED:
        scene.escalation = escalation_current(pull)
    return scene


def classify(scene: Scene, read: PullFacts) -> Mergeability:
    """Judge the reading and set the columns of the verdict; raises what keeps the declaration from being read."""
    scene.protocol = protocol_of(scene.client, read, scene.now)
    scene.merge = merge_facts(read)
    scene.found = classify_mergeability(scene.merge, scene.protocol, admin=admin_on(scene.protocol))
    if scene.found.verdict is Verdict.READY and scene.row.queue_failed_head == scene.merge.head:
        # Green by itself, and red together with what the queue puts before it.
        scene.found = Mergeability(Verdict.BLOCKED, "queue_checks_failing")
    scene.columns |= {
        "verdict": scene.found.verdict,
        "verdict_reason": scene.found.reason,
        "verdict_head": scene.merge.head or "",
        "verdict_base_sha": scene.merge.base or "",
        "verdict_inputs": verdict_inputs(scene.merge, scene.protocol),
        "verdict_at": read.observed_at,
    }
    return scene.found
