"""Making the stored definitions what the files say: all of it in one transaction, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from runs.clock import now
from runs.contract.canonical import bytes_hash
from runs.contract.errors import Invalid
from runs.definitions.load import Catalogue, Loaded, catalogue_load
from runs.models import Definition, Document, DocumentKind, Prompt, PromptSource, PromptVersion
from runs.transactions import turn_taken, write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFINITIONS_TURN = "definitions"  # of whoever stores or removes documents
PARTS = ("agents", "prompts", "schemas")
SHIPPED = Path(__file__).resolve().parents[2] / "fixtures"


@dataclass(slots=True)
class Changes:
    """What a sync did, or would do; each entry is one line for people."""

    lines: list[str] = field(default_factory=list)


def definition_folders() -> list[tuple[str, Path]]:
    """The shipped folder and the data folder; what stands in the second wins."""
    return [("shipped", SHIPPED), ("site", settings.FACTORY.home / "registry")]


def definitions_exist() -> bool:
    """Whether a set of definitions is in use."""
    return Definition.objects.filter(is_current=True).exists()


def definitions_unsynced() -> tuple[str, ...]:
    """What a sync of the folders in use would change, one line each; none while the files are wrong."""
    try:
        found = catalogue_load(definition_folders())
    except Invalid:  # of the policy, which says so itself
        return ()
    changes = Changes()
    if not found.faults:
        _compare(found, changes)
    return tuple(changes.lines)


def definitions_written_at() -> datetime | None:
    """When a file or folder of definitions was last written; None if there is none."""
    parts = [folder / part for _, folder in definition_folders() for part in PARTS]
    written = [path.stat().st_mtime for part in parts if part.exists() for path in (part, *part.iterdir())]
    return datetime.fromtimestamp(max(written), UTC) if written else None


def definitions_sync(*, actor: str, folders: Iterable[tuple[str, Path]] | None = None, check: bool = False) -> Changes:
    """Store what the files declare and make it current; with ``check`` write nothing and say what would change.

    Raises Invalid (`definitions_invalid`, ``details.faults``) with every fault at once; then the current set stays.
    A definition that no file declares any more stops being current. Calling it twice changes nothing more.
    """
    found = catalogue_load(definition_folders() if folders is None else folders)
    if found.faults:
        raise Invalid(
            "definitions_invalid",
            "\n".join(str(fault) for fault in found.faults),
            details={"faults": [str(fault) for fault in found.faults]},
        )
    changes = Changes()
    if check:
        _compare(found, changes)
        return changes
    with write_transaction():
        turn_taken(DEFINITIONS_TURN)
        _compare(found, changes)
        if changes.lines:
            _apply(found, actor, now())
    return changes


def _compare(found: Catalogue, changes: Changes) -> None:
    current = dict(Definition.objects.filter(is_current=True).values_list("ref", "def_hash"))
    for ref, loaded in found.definitions.items():
        if ref not in current:
            changes.lines.append(f"add {ref}")
        elif current[ref] != bytes_hash(loaded.content):
            changes.lines.append(f"change {ref}")
    changes.lines += [f"retire {ref}" for ref in sorted(set(current) - set(found.definitions))]
    seen = dict(Prompt.objects.values_list("name", "file_hash"))
    for name in sorted(_prompt_names(found)):
        if seen.get(name) != bytes_hash(found.prompts[name]):
            changes.lines.append(f"{'change' if name in seen else 'add'} prompt {name}")


def _apply(found: Catalogue, actor: str, at: datetime) -> None:
    for content in found.schemas.values():
        _store(DocumentKind.SCHEMA, content, at)
    for name in sorted(_prompt_names(found)):
        _apply_prompt(name, found.prompts[name], actor, at)
    Definition.objects.filter(is_current=True).exclude(
        def_hash__in=[bytes_hash(loaded.content) for loaded in found.definitions.values()]
    ).update(is_current=False)
    for loaded in found.definitions.values():
        _apply_definition(loaded, at)


def _apply_prompt(name: str, content: bytes, actor: str, at: datetime) -> None:
    """Make the file's text live if the file changed since the last sync; an edit on the console outlives a sync."""
    content_hash = _store(DocumentKind.PROMPT, content, at)
    row = Prompt.objects.filter(name=name).first()
    if row is not None and row.file_hash == content_hash:
        return
    row, _ = Prompt.objects.update_or_create(
        name=name, defaults={"current_hash": content_hash, "file_hash": content_hash, "updated_at": at}
    )
    PromptVersion.objects.create(prompt=row, hash=content_hash, actor=actor, source=PromptSource.FILE, at=at)


def _apply_definition(loaded: Loaded, at: datetime) -> None:
    document = loaded.document
    row, created = Definition.objects.get_or_create(
        def_hash=_store(DocumentKind.DEFINITION, loaded.content, at),
        defaults={
            "ref": loaded.ref,
            "agent_id": document["id"],
            "version": document["version"],
            "kind": document["kind"],
            "title": document["title"],
            "summary": document["summary"],
            "adapter": document["adapter"],
            "prompt_binding": document["promptBinding"],
            "prompt_name": loaded.prompt_name,
            "output_contract": document["outputContract"],
            "mutating": document["mutating"],
            "layer": loaded.layer,
            "is_current": True,
            "created_at": at,
        },
    )
    if not created and not row.is_current:
        row.is_current = True
        row.save(update_fields=["is_current"])


def _store(kind: DocumentKind, content: bytes, at: datetime) -> str:
    content_hash = bytes_hash(content)
    Document.objects.get_or_create(
        hash=content_hash,
        defaults={"kind": kind, "content": content, "size_bytes": len(content), "created_at": at},
    )
    return content_hash


def _prompt_names(found: Catalogue) -> set[str]:
    return {loaded.prompt_name for loaded in found.definitions.values()}
