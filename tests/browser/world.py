"""A believable fleet for pictures and walks: rows as the product writes them, hostile text among them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from convergence.flow import ConvergenceState, PullState
from convergence.models import (
    ConvergenceFlow,
    Escalation,
    GateCheck,
    PullRequest,
    PullRequestGeneration,
    Repository,
    ReviewSeen,
    Round,
    RoundTurn,
)
from convergence.services.memory import answer_undone
from merging.flow import MergeState
from merging.models import MergeAttempt, MergeFlow
from runs.clock import now as clock_now
from runs.humans.tasks import TaskKind, register_kind, task_ask, task_kind
from runs.models import User
from runs.models.periodic import PeriodicTask
from runs.models.transition import TransitionLog
from runs.models.usage import Spend, SpendScope
from runs.models.user import Role
from tests.browser.reviewed import make_reviewed
from workers.models import Worker

if TYPE_CHECKING:
    from runs.models.human_task import HumanTask

HOSTILE = "Retry uploads <script>alert(1)</script> \u202egpj.exe javascript:alert(2)"
FORM = {
    "fields": [
        {
            "id": "answer",
            "kind": "long_text",
            "label": "Your answer",
            "help": "Goes to the agent as written.",
            "requiredWhen": {"resolution": ["retry"]},
        },
        {
            "id": "resolution",
            "kind": "choice",
            "label": "What then?",
            "default": "retry",
            "choices": [
                {
                    "id": "retry",
                    "label": "Continue",
                    "tone": "primary",
                    "description": "The round runs again with your words.",
                },
                {
                    "id": "abandon",
                    "label": "Abandon the pull request",
                    "description": "It ends without a merge.",
                    "tone": "danger",
                },
            ],
        },
        {
            "id": "extraRounds",
            "kind": "number",
            "label": "Extra rounds",
            "integer": True,
            "minimum": 0,
            "maximum": 20,
            "default": 0,
        },
    ]
}


@dataclass(frozen=True)
class World:
    """What a test may want to hold."""

    operator: User
    viewer: User
    waiting: PullRequest
    escalated: PullRequest
    merged: PullRequest
    task: HumanTask
    remembered: HumanTask


def sha(number: int) -> str:
    return hashlib.sha1(str(number).encode()).hexdigest()


def person(name: str, role: Role) -> User:
    user, _ = User.objects.get_or_create(username=name, defaults={"role": role})
    user.set_password("correct horse battery")
    user.save()
    return user


def make_pull(repository: Repository, number: int, title: str, state: str, at: datetime, **columns: Any) -> PullRequest:
    pull = PullRequest.objects.create(
        repository=repository,
        number=number,
        title=title,
        url=f"https://github.com/{repository.full_name}/pull/{number}",
        author=columns.pop("author", "dana"),
        state=state,
        generation=1,
        head_ref=f"topic-{number}",
        head_sha=sha(number),
        base_ref="main",
        head_repository=repository.full_name,
        root=f"{repository.full_name}#{number}",
        created_at=at - timedelta(hours=3),
        updated_at=at,
        **columns,
    )
    PullRequestGeneration.objects.create(
        pull=pull,
        number=1,
        abandon_token=sha(number + 1000)[:32],
        max_rounds=20,
        submitted_by="operator:ops-1",
        submitted_at=at - timedelta(hours=3),
        correlation_id=f"pull-request:{pull.key}:g1",
    )
    return pull


def make_flow(pull: PullRequest, state: str, at: datetime, **columns: Any) -> ConvergenceFlow:
    over = state in ConvergenceFlow.machine.terminal
    return ConvergenceFlow.objects.create(
        pull=pull,
        subject=pull.subject,
        generation=pull.generation,
        state=state,
        due_at=None if over else at + timedelta(seconds=38),
        entered_at=at,
        created_at=at - timedelta(hours=3),
        ended_at=at if over else None,
        last_look_at=at + timedelta(minutes=15),
        max_rounds=20,
        waiting_since=at,
        waiting_head=pull.head_sha,
        **columns,
    )


def moved(
    pull: PullRequest, steps: list[tuple[str, str, str]], at: datetime, flow: str = "convergence", row: int = 1
) -> int:
    last = 0
    for number, (came_from, to, edge) in enumerate(steps):
        last = TransitionLog.objects.create(
            flow=flow,
            flow_row=row,
            subject=pull.subject,
            generation=1,
            from_state=came_from,
            to_state=to,
            edge=edge,
            event="look",
            guards={"round": 4, "head": pull.head_sha[:7]} if number else {},
            actor="poller" if number else "operator:ops-1",
            at=at + timedelta(minutes=7 * number),
        ).pk
    return last


def make_rounds(pull: PullRequest, count: int, at: datetime) -> None:
    words = (
        "Moved the retry into the client and kept the public signature.",
        "Added a bound on the backoff.\nThe reviewer's second remark was about the old file; it is gone.",
        "Renamed `upload_once`, as asked in the thread on upload.py.",
    )
    for number in range(1, count + 1):
        start = at - timedelta(minutes=40 * (count - number + 1))
        is_last = number == count
        status = "needs_input" if number == 2 and count > 2 else "addressed"
        made = Round.objects.create(
            pull=pull,
            generation=1,
            number=number,
            status=status,
            summary=words[number % 3],
            started_at=start,
            ended_at=start + timedelta(minutes=17),
        )
        turns = 2 if number == 3 else 1
        for turn in range(1, turns + 1):
            RoundTurn.objects.create(
                round=made,
                turn=turn,
                entry_head=sha(pull.number + number),
                exit_head=pull.head_sha if is_last else sha(pull.number + number + 1),
                run_id=f"run_01JQ8Z{pull.number:04d}{number:02d}{turn}ABCDEFGHJK"[:30],
                status=status,
                raw_status=status,
                probe="husk" if turns == 2 and turn == 1 else "progressed",
                outcome="completed",
                started_at=start,
                ended_at=start + timedelta(minutes=8 * turn),
            )
        ReviewSeen.objects.create(
            pull=pull,
            forge_id=f"r{pull.number}-{number}",
            reviewer="copilot",
            author="copilot",
            trusted=True,
            configured=True,
            state="commented",
            submitted_at=start - timedelta(minutes=2),
            counts_for=sha(pull.number + number),
            consumed_generation=1,
            consumed_round=number,
            first_seen_at=start - timedelta(minutes=1),
        )


def make_question(pull: PullRequest, text: str, at: datetime, reason: str = "needs_input") -> HumanTask:
    task = task_ask(
        kind="review_answer",
        subject=pull.subject,
        subject_label=pull.key,
        question=text,
        context=(
            "Asked by the agent in round 4.\n\nThe reviewer asks for a limit per host, the issue says per upload:\n"
            "```\nfor host in hosts:\n    retry(host, limit=5)\n```\nSee https://github.com/acme/web/pull/412#discussion_r1."
        ),
        form=FORM,
        refs={"pull": pull.pk},
        fingerprint=sha(pull.number)[:16],
        now=at,
    )
    Escalation.objects.create(
        pull=pull,
        flow="convergence",
        generation=1,
        round=4,
        reason=reason,
        kind="question",
        text=text,
        fingerprint=sha(pull.number)[:16],
        task=task,
        asked_at=at,
    )
    return task


def known_kinds() -> None:
    """Register the kinds of question of these rows where no app has done so."""
    for name, word in (("review_answer", "Review question"), ("merge_escalation", "Merge question")):
        try:
            task_kind(name)
        except KeyError:
            register_kind(TaskKind(name, word, undo=answer_undone if name == "review_answer" else None))


def fill(now: datetime | None = None) -> World:
    """Make the whole fleet."""
    at = now or clock_now()
    known_kinds()
    operator, viewer = person("ops-1", Role.OPERATOR), person("guest", Role.VIEWER)
    web = Repository.objects.create(forge_id=501, owner="acme", name="web", created_at=at)
    api = Repository.objects.create(
        forge_id=502, owner="acme", name="api-gateway-with-a-rather-long-name", created_at=at
    )
    waiting = make_pull(web, 412, "Retry uploads on 5xx", PullState.WAITING_REVIEW, at - timedelta(minutes=1))
    row = make_flow(
        waiting, ConvergenceState.AWAIT_REVIEW, at - timedelta(minutes=16), round=4, timer_at=at + timedelta(minutes=14)
    )
    make_rounds(waiting, 4, at - timedelta(minutes=16))
    row.entry_log = moved(
        waiting,
        [
            ("", "capture_head", "submitted"),
            ("capture_head", "review_round", "entry_captured"),
            ("review_round", "check_progress", "turn_addressed"),
            ("check_progress", "await_review", "progressed"),
        ],
        at - timedelta(minutes=37),
    )
    row.save()
    escalated = make_pull(
        web, 398, "Per-tenant rate limits", PullState.ESCALATED, at - timedelta(minutes=6), author="lee"
    )
    row = make_flow(escalated, ConvergenceState.AWAIT_ANSWER, at - timedelta(minutes=6), round=4)
    make_rounds(escalated, 3, at - timedelta(minutes=6))
    row.entry_log = moved(
        escalated,
        [("", "capture_head", "submitted"), ("review_round", "await_answer", "asked_input")],
        at - timedelta(minutes=13),
    )
    row.save()
    task = make_question(
        escalated,
        "Should the retry limit apply per host or per upload? The reviewer asks for per host, the issue says per "
        "upload; both cannot hold.",
        at - timedelta(minutes=6),
    )
    late = make_pull(api, 7, "Split the token bucket", PullState.ESCALATED, at - timedelta(hours=25))
    make_flow(late, ConvergenceState.AWAIT_ANSWER, at - timedelta(hours=25), round=20)
    make_question(late, "All 20 rounds are used and 2 findings are open. Go on?", at - timedelta(hours=25), "round_cap")
    hostile = make_pull(web, 417, HOSTILE, PullState.CONVERGING, at - timedelta(seconds=40), author="stranger")
    make_flow(hostile, ConvergenceState.REVIEW_ROUND, at - timedelta(minutes=2), round=1, turn=1)
    merging = make_pull(api, 21, "Middleware for tenants", PullState.WAITING_MERGE, at - timedelta(minutes=9))
    make_flow(merging, ConvergenceState.CONVERGED, at - timedelta(minutes=40), round=3)
    MergeFlow.objects.create(
        pull=merging,
        subject=merging.subject,
        generation=1,
        state=MergeState.WAITING_MERGE,
        due_at=at + timedelta(seconds=20),
        timer_at=at + timedelta(minutes=21),
        entered_at=at - timedelta(minutes=9),
        created_at=at - timedelta(minutes=40),
        last_look_at=at - timedelta(seconds=31),
        repository_id=502,
        base_ref="main",
        converged_at=at - timedelta(minutes=40),
        merge_retries=4,
        merge_retry_max=5,
        stall_max=5,
        stalls=1,
        return_max=3,
        verdict="waiting",
        verdict_reason="checks_pending",
        verdict_head=merging.head_sha,
        verdict_at=at - timedelta(seconds=31),
    )
    reviewed_only = make_pull(web, 403, "Explain retry budgets", PullState.CONVERGED, at - timedelta(minutes=95))
    make_flow(reviewed_only, ConvergenceState.CONVERGED, at - timedelta(minutes=95), round=2)
    reviewed_only.generations.update(auto_merge=False, outcome="converged, review only")
    remembered = make_reviewed(waiting, make_question(waiting, "Per host, or per upload?", at - timedelta(hours=3)), at)
    return World(operator, viewer, waiting, escalated, _landed(web, at), task, remembered.task)


def _landed(web: Repository, at: datetime) -> PullRequest:
    merged = make_pull(web, 408, "Stream large files", PullState.MERGED, at - timedelta(minutes=52))
    make_flow(merged, ConvergenceState.CONVERGED, at - timedelta(minutes=70), round=3)
    make_rounds(merged, 3, at - timedelta(minutes=80))
    flow = MergeFlow.objects.create(
        pull=merged,
        subject=merged.subject,
        generation=1,
        state=MergeState.MERGED,
        ended_at=at - timedelta(minutes=52),
        entered_at=at - timedelta(minutes=52),
        created_at=at - timedelta(minutes=70),
        repository_id=501,
        base_ref="main",
        converged_at=at - timedelta(minutes=70),
        merge_retry_max=5,
        stall_max=5,
        return_max=3,
        verdict="ready",
        verdict_head=merged.head_sha,
        verdict_at=at - timedelta(minutes=53),
        landed_sha=sha(777),
    )
    MergeAttempt.objects.create(
        flow=flow,
        pull=merged,
        generation=1,
        key="merge:408:1",
        expected_head=merged.head_sha,
        method="squash",
        outcome="merged",
        landed_sha=sha(777),
        sent_at=at - timedelta(minutes=53),
        at=at - timedelta(minutes=52),
    )
    GateCheck.objects.create(
        pull=merged, generation=1, round=3, result="ok", head=merged.head_sha, at=at - timedelta(minutes=70)
    )
    moved(
        merged,
        [("merging", "verifying_landing", "merge_landed"), ("verifying_landing", "merged", "landing_proven")],
        at - timedelta(minutes=59),
        flow="merge",
        row=flow.pk,
    )
    for number in (1, 2):
        Worker.objects.create(
            worker_id=f"lab.{number}",
            node="lab",
            started_at=at - timedelta(hours=2),
            last_seen_at=at + timedelta(days=1),
        )
    PeriodicTask.objects.create(name="flows", interval_seconds=2, due_at=at, started_at=at + timedelta(days=1))
    Spend.objects.create(scope=SpendScope.DAY, key="", day=at.date(), cost_micro_usd=38_200_000, tokens=1_200_000)
    Spend.objects.create(
        scope=SpendScope.SUBJECT, key="pull-request:501:412", day=at.date(), cost_micro_usd=1_920_000, tokens=80_000
    )
    return merged
