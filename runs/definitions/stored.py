"""Reading stored definitions: the current one of an agent, its document, and the documents that it names."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runs.contract.errors import Invalid
from runs.models import Definition, Document

if TYPE_CHECKING:
    from collections.abc import Mapping

HARNESS_KINDS = {"skills": "skill", "commands": "command", "subagents": "subagent"}


def definition_current(*, agent_id: str = "", ref: str = "") -> Definition:
    """The current definition of this ref, or the newest version of this agent; Invalid when there is none."""
    found = Definition.objects.filter(is_current=True)
    row = (found.filter(ref=ref) if ref else found.filter(agent_id=agent_id).order_by("-version")).first()
    if row is None:
        raise Invalid(
            "unknown_definition",
            f"no agent definition {ref or agent_id} is current; load it with: manage.py sync_definitions",
            details={"agent": ref or agent_id},
        )
    return row


def document_content(content_hash: str) -> bytes | None:
    """The stored bytes of a document; None when there is none. Content never changes under a hash."""
    try:
        return _content(content_hash)
    except Document.DoesNotExist:
        return None


def definition_document(def_hash: str) -> dict[str, Any]:
    """The normalised definition under its hash; Invalid (`unknown_definition`) when it is not stored."""
    content = document_content(def_hash)
    if content is None:
        raise Invalid("unknown_definition", f"the definition {def_hash} is not stored", details={"defHash": def_hash})
    loaded: dict[str, Any] = json.loads(content)
    return loaded


def schema_document(content_hash: str) -> Mapping[str, Any]:
    """The JSON Schema under its hash; Invalid (`unknown_definition`) when it is not stored."""
    content = document_content(content_hash)
    if content is None:
        raise Invalid("unknown_definition", f"the schema {content_hash} is not stored", details={"hash": content_hash})
    loaded: Mapping[str, Any] = json.loads(content)
    return loaded


def references(definition: Mapping[str, Any]) -> list[dict[str, str]]:
    """Kind, name and hash of each document that a definition names beside its prompt."""
    found = [
        {"kind": "schema", "name": key, "hash": definition[key]} for key in ("input", "output") if definition.get(key)
    ]
    for key, kind in HARNESS_KINDS.items():
        for entry in definition.get("harness", {}).get(key, []):
            found.append({"kind": kind, "name": entry["name"], "hash": entry["hash"]})
    return found


@lru_cache(maxsize=256)
def _content(content_hash: str) -> bytes:
    return bytes(Document.objects.values_list("content", flat=True).get(hash=content_hash))
