"""What the repairing agents are asked with: variables, checkout and the notes after the prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.checkout import branch_lock, head_checkout
from convergence.models import PullRequestGeneration
from convergence.texts import abandon_note, answer_note
from merging.notes import conflict_note, failing_note
from runs.queue.flow_steps import FlowStep, StepRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from convergence.forge.facts import PullFacts
    from convergence.models import PullRequest
    from merging.decisions.protocol import Protocol
    from merging.models import MergeFlow

FIX_CI, REBASE = "fix-ci", "rebase"
ABANDON_PATH = "/hooks/abandon?token="
MOST_APPENDED = 60_000  # characters; the spec allows 64 KiB in all


def fix_ci_request(
    row: MergeFlow,
    pull: PullRequest,
    read: PullFacts,
    *,
    protocol: Protocol | None,
    failing: Sequence[Mapping[str, Any]],
) -> Callable[[int], StepRequest]:
    """The request of a ``fix-ci`` run, as a function of the entry that asks for it."""
    variables = {
        "ciFixRound": row.ci_fixes,
        "ciFixMax": row.ci_fix_max,
        "failingChecks": [dict(check) for check in failing],
        "mergeProtocol": protocol.as_json() if protocol else {},
    }
    return _request(row, pull, read, agent=FIX_CI, variables=variables, notes=[failing_note(failing)])


def rebase_request(row: MergeFlow, pull: PullRequest, read: PullFacts) -> Callable[[int], StepRequest]:
    """The request of a ``rebase`` run, as a function of the entry that asks for it."""
    words = (read.merge_state_status or "").upper()
    variables = {
        "rebaseRound": row.rebases,
        "rebaseMax": row.rebase_max,
        "baseSha": read.base_sha or "",
        "mergeState": words,
    }
    note = conflict_note(
        head=read.head_sha or "", base_ref=read.base_ref, base_sha=read.base_sha or "", merge_state=words
    )
    return _request(row, pull, read, agent=REBASE, variables=variables, notes=[note])


def _request(
    row: MergeFlow,
    pull: PullRequest,
    read: PullFacts,
    *,
    agent: str,
    variables: Mapping[str, Any],
    notes: Sequence[str],
) -> Callable[[int], StepRequest]:
    generation = PullRequestGeneration.objects.get(pull=pull, number=row.generation)
    abandon = f"{settings.FACTORY.base_url}{ABANDON_PATH}{generation.abandon_token}"
    asked: dict[str, Any] = {
        "prKey": pull.key,
        "repo": pull.repository.full_name,
        "prNumber": pull.number,
        "prUrl": pull.url,
        "headRef": pull.head_ref,
        "headSha": read.head_sha or "",
        "baseBranch": read.base_ref,
        **variables,
        "abandonUrl": abandon,
    }
    parts = list(notes)
    if row.answer:
        asked |= {"answer": row.answer, "question": row.answer_question}
        parts.append(answer_note(row.answer_question, row.answer))
    parts.append(abandon_note(abandon))
    request = StepRequest(
        agent_id=agent,
        flow=FlowStep(type=row.machine.name, subject=row.subject, generation=row.generation, step=agent, entry=0),
        variables=asked,
        correlation_id=generation.correlation_id,
        workspace=head_checkout(pull, read.head_sha),
        repository=pull.repository.full_name,
        exclusive_key=branch_lock(pull),
        prompt_append="\n\n".join(parts)[:MOST_APPENDED],
    )
    return lambda entry: replace(request, flow=replace(request.flow, entry=entry))
