"""Removing definitions, and documents, that nothing refers to any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runs.definitions.stored import references
from runs.definitions.sync import DEFINITIONS_TURN
from runs.models import Attempt, Definition, Document, DocumentKind, Prompt, PromptVersion, Run
from runs.retention.rules import BATCH
from runs.transactions import turn_taken, write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Documents:
    """Old documents that no run, no attempt, no current definition and no version of a prompt refers to."""

    def count(self, before: datetime) -> int:
        """How many documents would go."""
        return len(_unused(before))

    def remove_some(self, before: datetime) -> int:
        """Remove at most 500, each with the definition that it holds."""
        unused = sorted(_unused(before))[:BATCH]
        if not unused:
            return 0
        with write_transaction():
            turn_taken(DEFINITIONS_TURN)  # no sync makes one of them current meanwhile
            unused = sorted(set(unused) - _in_force())
            Definition.objects.filter(def_hash__in=unused, is_current=False).delete()
            gone, _ = Document.objects.filter(hash__in=unused).delete()
        return gone


def _unused(before: datetime) -> set[str]:
    """Hashes out of use. Runs and attempts are asked only once there is a document old enough to go."""
    old = set(Document.objects.filter(created_at__lt=before).values_list("hash", flat=True)) - _in_force()
    if not old:
        return set()
    named = set(Run.objects.order_by().values_list("def_hash", flat=True).distinct())
    for column in ("def_hash", "prompt_hash"):
        named |= set(Attempt.objects.order_by().values_list(column, flat=True).distinct())
    return old - _with_what_they_name(named)


def _in_force() -> set[str]:
    current = Definition.objects.filter(is_current=True).values_list("def_hash", flat=True)
    prompts = set(PromptVersion.objects.values_list("hash", flat=True)) | set(
        Prompt.objects.values_list("current_hash", flat=True)
    )
    return prompts | _with_what_they_name(current)


def _with_what_they_name(hashes: Iterable[str]) -> set[str]:
    found = set(hashes)
    for document in Document.objects.filter(hash__in=list(found), kind=DocumentKind.DEFINITION):
        loaded = json.loads(document.text)
        found |= {entry["hash"] for entry in references(loaded)}
        found.add((loaded.get("prompt") or {}).get("hash", ""))
    return found
