"""What a turn of the review agent is asked with: variables, workspace and the notes after the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.checkout import branch_lock, head_checkout
from convergence.looks.words import words_told
from convergence.models import PullRequestGeneration
from convergence.texts import abandon_note, answer_note
from runs.queue.flow_steps import FlowStep, StepRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.looks.scene import Scene

AGENT = "pr-review"
MOST_APPENDED = 60_000  # characters of question and answer; the spec allows 64 KiB in all
ABANDON_PATH = "/hooks/abandon?token="


def review_request(scene: Scene, *, turn: int, backlog: Mapping[str, Any], entry: int) -> StepRequest:
    """The request of the turn that begins; ``entry`` is the log row that entered the step."""
    row, pull = scene.row, scene.pull
    generation = PullRequestGeneration.objects.get(pull=pull, number=row.generation)
    abandon = f"{settings.FACTORY.base_url}{ABANDON_PATH}{generation.abandon_token}"
    notes = [abandon_note(abandon)]
    if row.answer:
        notes.append(answer_note(row.answer_question, row.answer)[:MOST_APPENDED])
    return StepRequest(
        agent_id=AGENT,
        flow=FlowStep(
            type=row.machine.name,
            subject=row.subject,
            generation=row.generation,
            step="review_round",
            entry=entry,
        ),
        variables=_variables(scene, turn=turn, backlog=backlog, abandon=abandon),
        correlation_id=generation.correlation_id,
        workspace=head_checkout(pull, scene.head),
        repository=pull.repository.full_name,
        exclusive_key=branch_lock(pull),
        prompt_append="\n\n".join(notes),
    )


def _variables(scene: Scene, *, turn: int, backlog: Mapping[str, Any], abandon: str) -> dict[str, Any]:
    row, pull = scene.row, scene.pull
    variables: dict[str, Any] = {
        "prKey": pull.key,
        "prUrl": pull.url,
        "repo": pull.repository.full_name,
        "prNumber": pull.number,
        "title": _title(scene),
        "headRef": pull.head_ref,
        "headSha": scene.head or "",
        "baseRef": pull.base_ref,
        "round": row.round,
        "turn": turn,
        "maxRounds": row.max_rounds,
        "backlog": dict(backlog),
        "abandonUrl": abandon,
    }
    if row.answer:
        variables |= {"answer": row.answer, "question": row.answer_question}
    if row.gate_left:
        variables["gate"] = dict(row.gate_left)
    return variables


def _title(scene: Scene) -> str:
    """The title as data; blank while nobody knows whether its author is trusted."""
    facts = scene.facts
    if facts is None:
        return ""
    written: Any = {"author": facts.author, "association": facts.association, "url": facts.url}
    return words_told(scene.people, facts.title, **written)
