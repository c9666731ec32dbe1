"""Which documents and input artifacts a node may read: those that its attempts refer to, now or a moment ago."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from runs.clock import now
from runs.contract.canonical import HASH_PREFIX, bare_hex
from runs.contract.errors import NotFound
from runs.definitions.stored import definition_document, references
from runs.models import Attempt, Document, RunSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

AFTERWARDS = timedelta(minutes=10)  # how long after its end an attempt still opens its documents


def document_for(node: str, hex_digits: str) -> Document:
    """The document under this hash, if an attempt of the node refers to it; else NotFound, whether it exists or not."""
    wanted = HASH_PREFIX + hex_digits
    for attempt in _recent(node):
        if wanted in {attempt.def_hash, attempt.prompt_hash} or _names(attempt.def_hash, wanted):
            found = Document.objects.filter(hash=wanted).first()
            if found is not None:
                return found
    raise NotFound("not_found", f"no attempt of node {node} refers to this document")


def input_artifact_allowed(node: str, hex_digits: str, *, run_id: str, attempt_number: int) -> bool:
    """Whether the attempt is the node's and its specification declares this artifact as an input."""
    attempt = _recent_of(node).filter(run__run_id=run_id, number=attempt_number).first()
    if attempt is None:
        return False
    workspace = RunSpec.objects.get(run=attempt.run_id).document["workspace"]
    return hex_digits in {bare_hex(entry["sha256"]) for entry in workspace.get("inputs", ())}


def _recent(node: str) -> Iterator[Attempt]:
    return _recent_of(node).order_by("-pk").iterator()


def _recent_of(node: str) -> QuerySet[Attempt]:
    return Attempt.objects.filter(
        Q(finished_at__isnull=True) | Q(finished_at__gte=now() - AFTERWARDS),
        node=node,
    )


def _names(def_hash: str, wanted: str) -> bool:
    return any(entry["hash"] == wanted for entry in references(definition_document(def_hash)))
