"""What one look knows of one row: the reading, the verdict, the clock of its wait, and the facts that decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.forge.facts import Profile, PullFacts, PullState
from convergence.forge.reading import read_pull
from convergence.forge.singles import compare, get_pull
from convergence.forge_access import pull_ref
from convergence.looks.reading import seen_of
from convergence.services.escalations import escalation_current
from convergence.services.identity import pull_gone, pull_missing, pull_seen, snapshot_kept
from merging.base import base_is_busy, base_is_dead_end
from merging.decisions.heads import changes_were_requested, head_is_foreign, reason_is_gone
from merging.decisions.mergeability import Mergeability, MergeFacts, change_mark, classify_mergeability, merge_facts
from merging.decisions.timing import checks_run, stall_clock
from merging.flow import READY_STATES, MergeState
from merging.guards import LANDING_QUESTION, Facts, Verdict
from merging.models import OwnHead
from runs.contract.errors import FactoryError, NotFound
from runs.humans.flow import TaskState
from runs.models.outbox import Outbox
from runs.outbox.dispatch import PENDING
from runs.policy import policy

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from convergence.forge.client import ForgeClient
    from convergence.models import Escalation, PullRequest
    from merging.models import MergeFlow
    from runs.policy import Merging

S = MergeState
PROVEN = frozenset({"identical", "ahead"})  # how the base may stand to a landed commit that it contains


@dataclass(slots=True)
class Scene:
    """One row in one look. ``columns`` is what the look itself writes, whether or not an edge is taken."""

    row: MergeFlow
    pull: PullRequest
    client: ForgeClient
    now: datetime
    read: PullFacts | None = None
    error: FactoryError | None = None
    merge: MergeFacts | None = None
    found: Mergeability | None = None
    escalation: Escalation | None = None
    held_reason: str = ""
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Merging:
        """The policy of the repository."""
        return policy().merging_for(self.pull.repository.full_name)

    @property
    def head(self) -> str | None:
        """The commit that the branch points at, as read in this look; None when unread or gone."""
        return self.read.head_sha if self.read else None


def scene_of(
    client: ForgeClient, row: MergeFlow, pull: PullRequest, outcome: PullFacts | FactoryError, now: datetime
) -> Scene:
    """Take over what was read of the pull request; writes its columns, and the first own head if there is none."""
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
    if row.state == S.ESCALATED:
        scene.escalation = escalation_current(pull)
    return scene


def facts_of(scene: Scene) -> Facts:
    """Return the facts of the look; reads more of the forge where the state asks for it."""
    row, read = scene.row, scene.read
    known: dict[str, Any] = {
        "pull": seen_of(scene.read, scene.error),
        "unreachable": pull_gone(scene.pull, scene.now),
        "dependencies_clear": read is not None,  # no dependency can be stored, so none is in the way
        "returns": row.returns,
        "return_max": row.return_max,
        "stalls": row.stalls,
        "stall_max": row.stall_max,
        "retries": min(row.merge_retries, row.merge_retry_max) + 1,
        "retry_max": row.merge_retry_max,
        "timer_passed": row.timer_at is not None and row.timer_at <= scene.now,
    }
    if row.state in {*READY_STATES, S.ESCALATED} and read is not None and read.state is PullState.OPEN:
        known |= _merge_facts(scene)
    known |= _review_facts(scene)  # of the newest reading: a probe may have shown another head
    if row.state == S.MERGING:
        known["effect_pending"] = effect_pending(row)
    if row.state == S.ESCALATED:
        known |= _answer_facts(scene)
    if row.state == S.VERIFYING_LANDING or known.get("question") == LANDING_QUESTION:
        known["landed"] = _landed(scene)
    return Facts(**known)


def effect_pending(row: MergeFlow) -> bool:
    """Whether the merge effect of the present entry is still to be delivered."""
    return Outbox.objects.filter(PENDING, key=f"{row.machine.name}:{row.generation}:{row.entry_log}:0").exists()


def _review_facts(scene: Scene) -> dict[str, Any]:
    read, row, after = scene.read, scene.row, scene.policy.review_after
    if read is None or read.state is not PullState.OPEN:
        return {}
    own = set(row.own_heads.values_list("sha", flat=True))
    return {
        "foreign_head": head_is_foreign(read.head_sha, own, after),
        "changes_requested": changes_were_requested(read.opinionated_reviews, row.converged_at, after),
    }


def _merge_facts(scene: Scene) -> dict[str, Any]:
    """The verdict, and what holds a ready pull request back. Sets the columns of verdict and stall clock."""
    row = scene.row
    _classify(scene)
    known = {} if row.state == S.ESCALATED else _stall(scene)
    assert scene.merge is not None  # noqa: S101  # just read
    assert scene.found is not None  # noqa: S101
    assert scene.read is not None  # noqa: S101
    verdict = scene.found.verdict
    known["verdict"] = verdict
    if verdict is Verdict.READY and row.state in READY_STATES:
        known["refused"] = bool(row.refused_head) and row.refused_head == scene.head
        known["resting"] = row.retry_at is not None and row.retry_at > scene.now
        known["base_busy"] = base_is_busy(row, scene.read.base_ref)
        if not (known["refused"] or known["resting"] or known["base_busy"]):  # read only when it would merge now
            known["dead_end_base"] = base_is_dead_end(scene.client, scene.read)
    return known


def _classify(scene: Scene) -> None:
    assert scene.read is not None  # noqa: S101  # the caller checked
    scene.merge = merge_facts(scene.read)
    scene.found = classify_mergeability(scene.merge, admin=settings.FACTORY.merge_admin)
    scene.columns |= {
        "verdict": scene.found.verdict,
        "verdict_reason": scene.found.reason,
        "verdict_head": scene.merge.head or "",
        "verdict_base_sha": scene.merge.base or "",
        "verdict_at": scene.read.observed_at,
    }


def _stall(scene: Scene) -> dict[str, Any]:
    """Advance the stall clock; when its time is over, a single uncached read says whether it still waits."""
    row, now, config = scene.row, scene.now, settings.FACTORY
    limit: timedelta = config.mergeable_wait_timeout
    if row.state == S.REPOLLING:
        limit = config.mergeable_repoll_interval
    since = _stall_since(scene)
    passed = now - since >= limit
    if passed and scene.found is not None and scene.found.verdict is Verdict.WAITING:
        ref = pull_ref(scene.pull)
        get_pull(scene.client, ref.owner, ref.name, ref.number)  # makes the forge compute what it lacks
        scene.read = read_pull(scene.client, Profile.MERGE, ref)
        if scene.read.state is PullState.OPEN:
            _classify(scene)
            since = _stall_since(scene)
            passed = now - since >= limit
    scene.columns |= {"stall_since": since, "timer_at": since + limit}
    return {"timer_passed": passed, "pull": seen_of(scene.read, None)}


def _stall_since(scene: Scene) -> datetime:
    row, now = scene.row, scene.now
    assert scene.merge is not None  # noqa: S101  # classified before
    assert scene.found is not None  # noqa: S101
    mark = change_mark(scene.merge, scene.found)
    scene.columns["stall_mark"] = mark
    last = max(row.last_look_at or row.entered_at, row.entered_at)
    return stall_clock(
        since=row.stall_since or row.entered_at,
        last_look_at=last,
        changed=bool(row.stall_mark) and mark != row.stall_mark,
        still=_stands_still(scene),
        now=now,
    )


def _stands_still(scene: Scene) -> bool:
    """While a check runs, and while something of the product's own holds a ready pull request back."""
    row, merge = scene.row, scene.merge
    if scene.found is not None and scene.found.verdict is Verdict.READY:
        return True
    limit = scene.policy.pending_checks_timeout
    running = merge.checks.in_flight if merge else ()
    return checks_run(running, entered_at=row.entered_at, limit=limit, now=scene.now)


def _answer_facts(scene: Scene) -> dict[str, Any]:
    asked, read = scene.escalation, scene.read
    if asked is None:
        return {}
    known: dict[str, Any] = {"question": asked.reason}
    if asked.task.state == TaskState.ANSWERED:
        known["answer"] = asked.task.variables.get("resolution", "retry")
    if read is not None and read.state is PullState.OPEN:
        known["reason_gone"] = reason_is_gone(
            asked.reason,
            verdict=scene.found.verdict if scene.found else None,
            asked=scene.row,
            base=read.base_sha,
            base_ref=read.base_ref,
            draft=read.is_draft,
            head_known=read.head_sha is not None,
        )
    return known


def _landed(scene: Scene) -> bool:
    """Whether the commit that the forge names as landed was read as reachable from the base branch."""
    read = scene.read
    if read is None or read.state is not PullState.MERGED or not read.merge_commit_sha:
        return False
    owner, name = read.repository.name_with_owner.split("/", 1)
    return compare(scene.client, owner, name, read.merge_commit_sha, read.base_ref).status in PROVEN
