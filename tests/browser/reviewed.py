"""What convergence knows of one pull request beyond its rounds: findings, gate checks, waivers, a remembered answer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from convergence.models import (
    Escalation,
    EscalationState,
    Finding,
    FindingStatus,
    GateCheck,
    PullRequestGeneration,
    Repository,
    ReviewerStatus,
    Round,
    Waiver,
)
from runs.humans.tasks import task_recall
from runs.models.human_task import HumanTask

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.models import PullRequest

# kind, path, words, open, closed as, reopened, (round, trend, how) …
FINDINGS = (
    ("thread", "upload.py", "The limit should hold per host.", True, "", 1, ((1, "new", ""), (3, "reopened", ""))),
    ("thread", "client.py", "Name the magic number.", False, "fixed", 0, ((1, "new", ""), (2, "gone", "fixed"))),
    ("advisory", "retry.py", "Use a constant here.", False, "declined", 0, ((2, "new", ""), (3, "gone", "declined"))),
    ("changes", "", "Please keep the public signature.", True, "", 0, ((3, "new", ""),)),
)


def make_reviewed(pull: PullRequest, earlier: HumanTask, at: datetime) -> Escalation:
    """Fill in what the tabs of this pull request show; return the question that was answered from memory.

    ``earlier`` is the question of the pull request that a person answers first.
    """
    answered = {"answer": "Per upload, as the issue says.", "resolution": "retry"}
    HumanTask.objects.filter(pk=earlier.pk).update(
        state="answered",
        answered_at=at - timedelta(hours=2),
        answered_by="operator:ops-2",
        answered_by_kind="person",
        answered_seen=earlier.seen_hash,
        variables=answered,
    )
    earlier.refresh_from_db()
    Escalation.objects.filter(task=earlier).update(state=EscalationState.ANSWERED, ended_at=at - timedelta(hours=2))
    rounds = {each.number: each for each in Round.objects.filter(pull=pull, generation=1)}
    Round.objects.filter(pull=pull).update(entry_read=True)
    for number, (kind, path, words, is_open, closed_as, reopened, history) in enumerate(FINDINGS):
        row = Finding.objects.create(
            pull=pull,
            generation=1,
            kind=kind,
            forge_id=f"F{number}",
            fingerprint=f"{number:016x}",
            author="copilot" if kind != "changes" else "dev",
            path=path,
            text=words,
            url=f"{pull.url}#discussion_r{number}" if kind != "advisory" else "",
            is_open=is_open,
            closed_as=closed_as,
            reopened_count=reopened,
        )
        for of, trend, how in history:
            if of in rounds:
                FindingStatus.objects.create(finding=row, round=rounds[of], trend=trend, how=how)
    _gate(pull, at)
    escalation = _remembered(pull, earlier, at)
    Waiver.objects.create(
        pull=pull,
        generation=1,
        head=pull.head_sha,
        kind="thread",
        target="PRRT_kw1",
        escalation=escalation,
        given_by="operator:ops-2",
        given_at=at - timedelta(minutes=50),
    )
    ReviewerStatus.objects.create(
        repository=Repository.objects.get(pk=pull.repository_id),
        reviewer="copilot",
        unavailable_until=at + timedelta(hours=20),
        detail="Reviews may only be requested from collaborators.",
        checked_at=at,
    )
    return escalation


def _gate(pull: PullRequest, at: datetime) -> None:
    counts = {"reviews": 4, "threads": 6, "openThreads": 1, "unacknowledged": 0}
    for result, reason, minutes in (
        ("ack_only", "1 suppressed comment", 90),
        ("blocked", "1 open thread", 60),
        ("stale", "no review of the head", 20),
    ):
        GateCheck.objects.create(
            pull=pull,
            generation=1,
            round=3,
            result=result,
            reason=reason,
            head=pull.head_sha,
            counts=counts,
            waived=1 if result == "stale" else 0,
            at=at - timedelta(minutes=minutes),
        )
    PullRequestGeneration.objects.filter(pull=pull).update(
        scope_result="unchecked", scope_detail="the classifier gave no usable answer"
    )


def _remembered(pull: PullRequest, earlier: HumanTask, at: datetime) -> Escalation:
    question = "Per host or per upload?"
    task = task_recall(
        now=at - timedelta(minutes=45),
        answer_of=earlier,
        kind="review_answer",
        subject=pull.subject,
        subject_label=pull.key,
        question=question,
        context="",
        form=earlier.form,
        refs={"pull": pull.pk},
        fingerprint="remembered",
    )
    return Escalation.objects.create(
        pull=pull,
        flow="convergence",
        generation=1,
        round=3,
        reason="needs_input",
        kind="question",
        text=question,
        fingerprint="remembered",
        task=task,
        state=EscalationState.ANSWERED,
        auto_applied=True,
        asked_at=at - timedelta(minutes=45),
        ended_at=at - timedelta(minutes=45),
    )
