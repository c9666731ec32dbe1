"""The failing checks as a repairing agent gets them: names, links and the ends of their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.logs import job_log_tail
from convergence.forge.queue import commit_checks
from merging.decisions.mergeability import failing_checks
from runs.contract.redactor import Redactor

if TYPE_CHECKING:
    from convergence.forge.checks import Check
    from convergence.forge.client import ForgeClient
    from convergence.forge.queue import CommitCheck
    from merging.looks.scene import Scene

MOST_LOGS = 5
MOST_CHECKS = 100
ACTIONS = "github-actions"  # whose jobs have the number of their check run, and a log
BAD = frozenset({"failure", "timed_out", "cancelled", "action_required", "startup_failure"})


def failing_documents(scene: Scene) -> list[dict[str, Any]]:
    """Every failing check with its link, the first five with the end of their log; reads the forge.

    Those of the merge queue's own commit where the queue dropped this head for them.
    """
    row, client = scene.row, scene.client
    owner, name = scene.pull.repository.owner, scene.pull.repository.name
    if row.queue_failed_head and row.queue_failed_head == scene.head and row.queue_failed_sha:
        found = commit_checks(client, owner, name, row.queue_failed_sha)
        documents = [_of_commit(check) for check in found if check.conclusion in BAD]
    else:
        checks = failing_checks(scene.merge.checks, scene.protocol) if scene.merge else ()
        documents = [_of_head(check) for check in checks]
    return [_with_log(client, owner, name, each, place) for place, each in enumerate(documents[:MOST_CHECKS])]


def _of_head(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "producer": check.producer,
        "workflow": check.workflow or "",
        "conclusion": (check.conclusion or check.status).lower(),
        "url": check.url or "",
        "required": check.required,
        "job": None if check.is_status else check.run_id,
    }


def _of_commit(check: CommitCheck) -> dict[str, Any]:
    return {
        "name": check.name,
        "producer": check.producer,
        "workflow": "",
        "conclusion": check.conclusion,
        "url": check.url,
        "required": None,
        "job": check.run_id,
    }


def _with_log(client: ForgeClient, owner: str, name: str, document: dict[str, Any], place: int) -> dict[str, Any]:
    job = document.pop("job")
    if place >= MOST_LOGS or job is None or document["producer"] != ACTIONS:
        return document
    tail = job_log_tail(client, owner, name, job)
    return {**document, "logExcerpt": Redactor().redact(tail)} if tail else document
