"""Reading definition files, prompts and schemas of one or two folders; every fault is reported, not the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml
from jsonschema.exceptions import SchemaError

from runs.contract.canonical import bytes_hash, canonical_bytes, parse_strict
from runs.contract.errors import Invalid
from runs.contract.schemas import schema_violation
from runs.definitions.form import FORM, LARGEST_PROMPT, normalised
from runs.definitions.vocabulary import schema_checked
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LATER_KINDS = frozenset({"repository"})  # of workspaces: the wire knows them, and nobody can provision them yet
RESULT_CHANNEL = "AGENT_RESULT_FILE"  # a prompt that does not name it leaves the agent without a way to answer


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of the report: which file, which key, which kind of fault."""

    file: str
    key: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One definition as it will be stored: normalised, with references replaced by names and hashes."""

    ref: str
    document: dict[str, Any]
    prompt_name: str
    layer: str

    @property
    def content(self) -> bytes:
        """The canonical bytes; their hash is the defHash."""
        return canonical_bytes(self.document)


@dataclass(slots=True)
class Catalogue:
    """Everything that the folders declare, and everything that is wrong with them."""

    definitions: dict[str, Loaded] = field(default_factory=dict)
    prompts: dict[str, bytes] = field(default_factory=dict)
    schemas: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def catalogue_load(folders: Iterable[tuple[str, Path]]) -> Catalogue:
    """Read (layer, folder) pairs in order; a later folder's file replaces the one of the same name as a whole."""
    found = Catalogue()
    files: dict[str, tuple[str, Path]] = {}
    folders = list(folders)
    for layer, folder in folders:
        found.prompts |= _prompts(folder / "prompts", found.faults)
        found.schemas |= _schemas(folder / "schemas", found.faults)
        files |= _unique_refs(layer, folder / "agents", found.faults)
    for ref, (layer, path) in sorted(files.items()):
        loaded = _definition(ref, layer, path, found)
        if loaded is not None:
            found.definitions[ref] = loaded
    return found


def _unique_refs(layer: str, folder: Path, faults: list[Fault]) -> dict[str, tuple[str, Path]]:
    refs: dict[str, tuple[str, Path]] = {}
    for path in _files(folder, "*.yaml"):
        stated = _yaml(path, faults)
        if stated is None:
            continue
        ref = f"{stated.get('id')}@{stated.get('version')}"
        if ref in refs:
            faults.append(Fault(_name(path), "version", "version_reused", f"{refs[ref][1].name} declares {ref} too"))
        refs[ref] = (layer, path)
    return refs


def _definition(ref: str, layer: str, path: Path, found: Catalogue) -> Loaded | None:
    before = len(found.faults)
    stated = _yaml(path, [])
    violation = schema_violation(FORM, stated)
    if stated is None or violation is not None:
        key, message = (violation.path, violation.message) if violation else ("$", "unreadable")
        found.faults.append(Fault(_name(path), key, "definition_invalid", message))
        return None
    document = normalised(stated)
    _check_values(document, path, found)
    prompt = found.prompts.get(document["prompt"])
    if prompt is None:
        _missing(path, "prompt", f"prompts/{document['prompt']}", found)
    elif RESULT_CHANNEL.encode() not in prompt:
        message = f"prompts/{document['prompt']} does not name {RESULT_CHANNEL}"
        found.faults.append(Fault(_name(path), "prompt", "definition_invalid", message))
    for key in ("input", "output"):
        if document[key] not in found.schemas:
            _missing(path, key, f"schemas/{document[key]}", found)
    if len(found.faults) > before or prompt is None:
        return None
    name = document["prompt"]
    document["prompt"] = {"name": name}
    if document["promptBinding"] == "pinned":
        document["prompt"]["hash"] = bytes_hash(prompt)
    for key in ("input", "output"):
        document[key] = bytes_hash(found.schemas[document[key]])
    return Loaded(ref, document, name, layer)


def _check_values(document: dict[str, Any], path: Path, found: Catalogue) -> None:
    limits = document["limits"]
    if limits["verifySeconds"] >= limits["timeoutSeconds"]:
        message = "verifySeconds must be less than timeoutSeconds"
        found.faults.append(Fault(_name(path), "$.limits.verifySeconds", "definition_invalid", message))
    if document["weightClass"] not in policy().weight_classes:
        message = f"policy.yaml has no weight class {document['weightClass']}"
        found.faults.append(Fault(_name(path), "$.weightClass", "definition_invalid", message))
    if document["workspace"]["kind"] in LATER_KINDS:
        message = f"no worker of this version makes a workspace of kind {document['workspace']['kind']}"
        found.faults.append(Fault(_name(path), "$.workspace.kind", "definition_invalid", message))
    if document["mutating"] and document["workspace"]["kind"] != "worktree":
        message = "a mutating definition works in a worktree"
        found.faults.append(Fault(_name(path), "$.mutating", "definition_invalid", message))


def _prompts(folder: Path, faults: list[Fault]) -> dict[str, bytes]:
    found = {}
    for path in _files(folder, "*.md"):
        try:
            content = path.read_bytes()
        except OSError as error:
            faults.append(Fault(_name(path), "$", "document_missing", f"it cannot be read: {error.strerror}"))
            continue
        found[path.name] = content
        if not content.strip():
            faults.append(Fault(_name(path), "$", "prompt_blank", "the prompt is only white space"))
        if len(content) > LARGEST_PROMPT:
            message = f"the prompt has {len(content)} bytes; {LARGEST_PROMPT} are allowed"
            faults.append(Fault(_name(path), "$", "prompt_too_large", message))
    return found


def _schemas(folder: Path, faults: list[Fault]) -> dict[str, bytes]:
    found = {}
    for path in _files(folder, "*.json"):
        try:
            document = parse_strict(path.read_bytes())
            schema_checked(document)
        except (Invalid, SchemaError, ValueError, OSError) as error:
            message = error.message if isinstance(error, Invalid | SchemaError) else str(error)
            faults.append(Fault(_name(path), "$", "schema_invalid", message))
            continue
        found[path.name] = canonical_bytes(document)
    return found


def _yaml(path: Path, faults: list[Fault]) -> dict[str, Any] | None:
    try:
        stated = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, OSError, RecursionError) as error:  # a date such as 2026-13-45 is a ValueError
        faults.append(Fault(_name(path), "$", "definition_invalid", " ".join(str(error).split())))
        return None
    if not isinstance(stated, dict):
        faults.append(Fault(_name(path), "$", "definition_invalid", "the file holds no mapping"))
        return None
    return stated


def _missing(path: Path, key: str, wanted: str, found: Catalogue) -> None:
    found.faults.append(Fault(_name(path), f"$.{key}", "document_missing", f"{wanted} does not exist"))


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern)) if folder.is_dir() else []


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
