"""What is written beside a workspace: enough to save its work after a crash, and how long it is kept."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runs.contract.ids import attempt_parts
from runs.contract.instants import format_instant
from workers.host.disk.files import read_json, remove_tree, tree_size, write_json
from workers.host.workspace.checkout import BranchSpec, Checkout

RECORD = "attempt.json"
KEPT = "kept.json"
KEPT_SECONDS = 7 * 86_400
KEPT_BYTES = 20 * 1024**3  # of one machine, oldest removed first


@dataclass(frozen=True, slots=True)
class Record:
    """The checkout in a workspace, and the repositories that its attempt may read."""

    repositories: tuple[str, ...]
    checkout: Checkout


def write_record(root: Path, record: Record) -> None:
    """Beside the workspace, and on disk: a power failure must not lose the work in it."""
    document = {
        "repositories": list(record.repositories),
        "checkout": {
            "spec": asdict(record.checkout.spec),
            "folder": str(record.checkout.folder),
            "baseSha": record.checkout.base_sha,
            "config": record.checkout.config.decode("utf-8", "surrogateescape"),
        },
    }
    write_json(root / RECORD, document, durable=True)


def read_record(root: Path) -> Record | None:
    """The record of a workspace, None if there is no checkout in it."""
    document = read_json(root / RECORD)
    found = document.get("checkout") if document else None
    if document is None or found is None:
        return None
    checkout = Checkout(
        spec=BranchSpec(**found["spec"]),
        folder=Path(found["folder"]),
        base_sha=found["baseSha"],
        config=found["config"].encode("utf-8", "surrogateescape"),
    )
    return Record(repositories=tuple(document["repositories"]), checkout=checkout)


def keep_workspace(root: Path, *, only_copy: bool = False) -> None:
    """Mark a workspace as kept from now on; one that holds the only copy of work goes by a person's hand alone."""
    write_json(root / KEPT, {"onlyCopy": only_copy}, durable=True)


def kept_workspaces(home: Path) -> list[Path]:
    """The kept workspaces, oldest first."""
    return [root for _, root in _kept_since(home)]


def kept_lines(home: Path) -> Iterator[str]:
    """One line for each kept workspace and each local bundle."""
    for root in kept_workspaces(home):
        yield f"{root.name} workspace {tree_size(root)} bytes"
    for bundle in sorted((home / "salvage").glob("*.bundle")):
        yield f"{bundle.stem} bundle {bundle.stat().st_size} bytes"


def kept_summary(home: Path) -> dict[str, Any]:
    """How many workspaces are kept, their bytes together, and since when the oldest is."""
    kept = _kept_since(home)
    oldest = format_instant(datetime.fromtimestamp(kept[0][0], UTC)) if kept else None
    return {"count": len(kept), "bytes": sum(tree_size(root) for _, root in kept), "oldestAt": oldest}


def discard_kept(home: Path, name: str) -> bool:
    """Remove the kept workspace and the local bundle of an attempt; False if there is neither."""
    if attempt_parts(name) is None:
        return False
    root, bundle = home / "workspaces" / name, home / "salvage" / f"{name}.bundle"
    found = (root / KEPT).exists() or bundle.exists()
    if (root / KEPT).exists():
        remove_tree(root)
    bundle.unlink(missing_ok=True)
    return found


def clean_up(home: Path) -> None:
    """Remove kept workspaces that are too old or too large together, and half-removed folders."""
    folder = home / "workspaces"
    if not folder.is_dir():
        return
    for doomed in folder.glob(".removing-*"):
        shutil.rmtree(doomed, ignore_errors=True)
    kept = _kept_since(home)
    sizes = {root: tree_size(root) for _, root in kept}
    total = sum(sizes.values())
    for since, root in kept:
        expired = time.time() - since > KEPT_SECONDS
        if (expired or total > KEPT_BYTES) and not _holds_only_copy(root):
            total -= sizes[root]
            remove_tree(root)


def _kept_since(home: Path) -> list[tuple[float, Path]]:
    """Kept workspaces with the time of their mark, oldest first; one that another worker removes is left out."""
    found = []
    for mark in (home / "workspaces").glob(f"*/{KEPT}"):
        with contextlib.suppress(OSError):
            found.append((mark.stat().st_mtime, mark.parent))
    return sorted(found)


def _holds_only_copy(root: Path) -> bool:
    # Marked by closing when a bundle could not be made; only a person discards it.
    document = read_json(root / KEPT) or {}
    return bool(document.get("onlyCopy"))
