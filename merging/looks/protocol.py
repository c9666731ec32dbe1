"""What the base branch declares about landing: read once for each commit of it, never from a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.forge.singles import file_text
from merging.decisions.protocol import Protocol, Reading, protocol_block, protocol_checked, protocol_read
from merging.models import MergeProtocol
from runs.contract.canonical import document_hash

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts

AGENTS = "AGENTS.md"
FILE = ".github/merge-protocol.json"


def protocol_of(client: ForgeClient, read: PullFacts, now: datetime) -> Protocol | None:
    """The declaration in force for this pull request's base; None while none was ever valid.

    A broken file leaves the last valid version in force. Raises the forge's errors: what cannot be read is not absent.
    """
    if not read.base_sha:
        return None
    kept = MergeProtocol.objects.filter(repository_id=read.repository.forge_id, base_ref=read.base_ref).first()
    if kept is None or kept.base_sha != read.base_sha:
        kept = _read(client, read, kept, now)
    return stored_protocol(kept)


def stored_protocol(kept: MergeProtocol) -> Protocol | None:
    """The declaration that a row keeps in force."""
    return protocol_checked(kept.parsed).protocol if kept.parsed is not None else None


def _read(client: ForgeClient, read: PullFacts, before: MergeProtocol | None, now: datetime) -> MergeProtocol:
    owner, name = read.repository.name_with_owner.split("/", 1)
    commit = read.base_sha or ""
    source, text = _text(client, owner, name, commit)
    found = protocol_read(text) if text is not None else Reading(Protocol())
    valid = found.protocol
    row, _ = MergeProtocol.objects.update_or_create(
        repository_id=read.repository.forge_id,
        base_ref=read.base_ref,
        defaults={
            "base_sha": commit,
            "source": source,
            "content_hash": document_hash({"text": text}) if text is not None else "",
            "parsed": valid.as_json() if valid else before.parsed if before else None,
            "valid": valid is not None,
            "error": found.error,
            "warnings": list(found.warnings),
            "read_at": now,
        },
    )
    return row


def _text(client: ForgeClient, owner: str, name: str, commit: str) -> tuple[str, str | None]:
    agents = file_text(client, owner, name, AGENTS, commit)
    block = protocol_block(agents) if agents is not None else None
    if block is not None:
        return AGENTS, block
    text = file_text(client, owner, name, FILE, commit)
    return (FILE, text) if text is not None else ("", None)
