"""The question that a refused run leaves for a person: its form, when it is asked, and what an answer starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.errors import Refused
from runs.definitions.stored import definition_current
from runs.humans.tasks import TaskKind, task_ask
from runs.models import Run, RunSpec
from runs.queue.enqueue import run_enqueue
from runs.queue.operating.start import start_spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from runs.models import HumanTask

RUN_REFUSED = "run_refused"
NEEDS_HUMAN = "needs_human"
RERUN, DISMISS = "rerun_with_answer", "dismiss"
MOST_APPENDED = 60_000  # characters of question and answer together; a run specification takes 64 KiB
TEMPLATE: tuple[Mapping[str, Any], ...] = (
    {"id": "answer", "label": "Answer it", "effect": RERUN},
    {"id": "dismiss", "label": "Dismiss it", "effect": DISMISS},
)


def refusal_asked(run: Run, document: Mapping[str, Any], at: datetime) -> HumanTask | None:
    """Ask a person what the refused run needs, in the transaction that accepts its result.

    None unless it refused `needs_human`, and for a step of a flow: the flow asks for its own runs. A decision request
    that cannot be made a form of never turns a refusal into a failure: the template is used, and the context says so.
    """
    if run.flow_type or document["reasonCode"] != NEEDS_HUMAN:
        return None
    decision = document.get("decision") or {}
    options, fault = _options(decision)
    return task_ask(
        kind=RUN_REFUSED,
        subject=run.subject,
        subject_label=run.subject_label or run.subject,
        question=decision.get("question") or _summary(document) or f"{run.agent_ref} needs a decision of a person.",
        context="\n\n".join(part for part in (str(decision.get("context") or ""), fault) if part),
        form=_form(options),
        refs={"runId": run.run_id},
        fingerprint=run.run_id,
        now=at,
    )


def _summary(document: Mapping[str, Any]) -> str:
    """What the agent said beside its refusal."""
    artifact = document.get("artifact")
    summary = artifact.get("summary") if isinstance(artifact, dict) else None
    return summary.strip() if isinstance(summary, str) else ""


def _options(decision: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...], str]:
    """The choices of the agent, or the template and why it stands in."""
    options = tuple({"effect": RERUN, **option} for option in decision.get("options", ()))
    if not options:
        return TEMPLATE, ""
    unknown = sorted({str(option["effect"]) for option in options} - {RERUN, DISMISS})
    ids = [option["id"] for option in options]
    if unknown:
        return TEMPLATE, f"The agent offered choices of its own with effects that are not known: {', '.join(unknown)}."
    if len(set(ids)) < len(ids):
        return TEMPLATE, "The agent offered choices of its own of which two have the same id."
    return options, ""


def _form(options: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    choices = [
        {
            "id": option["id"],
            "label": option["label"],
            "effect": option["effect"],
            "tone": "off" if option["effect"] == DISMISS else "neutral",
        }
        for option in options
    ]
    needs_text = [option["id"] for option in TEMPLATE if options == TEMPLATE and option["effect"] == RERUN]
    text = {"id": "answer", "kind": "long_text", "label": "What the agent should know"}
    return {
        "fields": [
            {"id": "decision", "kind": "choice", "label": "Decision", "required": True, "choices": choices},
            {**text, "requiredWhen": {"decision": needs_text}} if needs_text else text,
        ]
    }


def refusal_answered(task: HumanTask, answer: Mapping[str, Any], actor: str) -> None:
    """Start the run anew with the answer after its prompt, or leave it at rest; in the answer's transaction.

    Raises what `run_enqueue` raises when the agent may not be started any more; then nothing was answered.
    """
    choices = {choice["id"]: choice for choice in task.form["fields"][0]["choices"]}
    chosen = choices[answer["decision"]]
    task.effect, task.effect_state = chosen["effect"], "applied"
    if chosen["effect"] == RERUN:
        refused = Run.objects.get(run_id=task.refs["runId"])
        given = "\n\n".join(part for part in (_label(chosen), str(answer.get("answer", ""))) if part)
        started = _started_again(refused, task, given, actor)
        task.refs = {**task.refs, "startedRunId": started.run_id}
    task.save(update_fields=["effect", "effect_state", "refs"])


def _label(chosen: Mapping[str, Any]) -> str:
    """The words of a choice of the agent's own; those of the template say nothing to it."""
    return "" if chosen["id"] in {option["id"] for option in TEMPLATE} else str(chosen["label"])


def _started_again(run: Run, task: HumanTask, given: str, actor: str) -> Run:
    spec = RunSpec.objects.get(run=run).document
    row = definition_current(ref=run.agent_ref)
    note = f"You refused to go on and asked:\n\n{task.question}\n\nA person answered:\n\n{given}"
    again = start_spec(
        row,
        spec["input"],
        subject=spec["subject"],
        identity=f"operator:task:{task.pk}",
        promptAppend=note[:MOST_APPENDED],
        causationId=f"run:{run.run_id}",
        correlationId=run.correlation_id,
        origin={"kind": "operator", "source": f"task:{task.pk}"},
    )
    started = run_enqueue(spec=again, actor=actor, subject_label=run.subject_label)
    if not started.created:
        raise Refused("already_answered", f"This answer has started {started.run.run_id}.")
    return started.run


REFUSED_KIND = TaskKind(RUN_REFUSED, "Refused run", act=refusal_answered)
