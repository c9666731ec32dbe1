"""The files of a service manager: written to a folder, or compared with what a folder holds."""

from __future__ import annotations

import difflib
from pathlib import Path

from factory_site.units.launchd import agents
from factory_site.units.systemd import user_units
from runs.contract.errors import Invalid
from workers.host.pool.options import read_bounds

LAUNCHER = "factory-launch"
MANAGERS = {"launchd": agents, "systemd": user_units}
MOST_WORKERS = 32
EXECUTABLE = 0o755
READABLE = 0o644


def unit_files(manager: str, workers: str) -> dict[str, str]:
    """File name → content: two services and their launcher; the same from any checkout.

    Raises ``Invalid`` for bounds that are not 1 ≤ min ≤ max ≤ 32.
    """
    low, high = read_bounds(workers) or (0, 0)
    if low < 1 or high > MOST_WORKERS:
        raise Invalid("usage", f"--workers {workers}: a service keeps 1 to {MOST_WORKERS} workers, such as 1:2")
    launcher = Path(__file__).with_name(LAUNCHER).read_text(encoding="utf-8")
    return {**MANAGERS[manager](f"{low}:{high}"), LAUNCHER: launcher}


def files_write(folder: Path, files: dict[str, str]) -> None:
    """Write them; the launcher may be executed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.write_text(content, encoding="utf-8")
        path.chmod(EXECUTABLE if name == LAUNCHER else READABLE)


def files_difference(folder: Path, files: dict[str, str]) -> str:
    """The unified diff from what the folder holds to what it should; blank when it holds exactly that."""
    return "".join(_difference(folder / name, content) for name, content in files.items())


def _difference(path: Path, content: str) -> str:
    held = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    was, should = held.splitlines(keepends=True), content.splitlines(keepends=True)
    return "".join(difflib.unified_diff(was, should, fromfile=str(path), tofile=f"generated {path.name}"))
