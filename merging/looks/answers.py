"""What is known of the open question: how it was answered, and whether its cause has gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merging.decisions.questions import Seen, reason_is_gone
from runs.humans.flow import TaskState

if TYPE_CHECKING:
    from merging.looks.scene import Scene


def answer_facts(scene: Scene, *, dependency_dead: bool, dependency_cyclic: bool) -> dict[str, Any]:
    """The question's reason, its answer, and whether nobody needs to answer any more."""
    asked, read = scene.escalation, scene.open
    if asked is None:
        return {}
    known: dict[str, Any] = {"question": asked.reason}
    if asked.task.state == TaskState.ANSWERED:
        known["answer"] = asked.task.variables.get("resolution", "retry")
    if read is not None:
        seen = Seen(
            verdict=scene.found.verdict if scene.found else None,
            head=read.head_sha,
            base=read.base_sha,
            base_ref=read.base_ref,
            draft=read.is_draft,
            in_queue=bool(read.in_merge_queue),
            dependency_dead=dependency_dead,
            dependency_cyclic=dependency_cyclic,
        )
        known["reason_gone"] = reason_is_gone(asked.reason, asked=scene.row, seen=seen)
    return known
