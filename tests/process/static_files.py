"""Static files that one control plane collected, lent to the next: collecting them is half of a cold start."""

import atexit
import shutil
import tempfile
from pathlib import Path

_shelf = Path(tempfile.mkdtemp(prefix="factory-static-"))
atexit.register(shutil.rmtree, _shelf, ignore_errors=True)
_kept = _shelf / "staticfiles"


def lend(home: Path) -> None:
    """Put what an earlier control plane collected into a new data folder."""
    if _kept.is_dir() and not (home / "staticfiles").exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copytree(_kept, home / "staticfiles")


def keep(home: Path) -> None:
    """Keep what this control plane collected for those that follow."""
    if not _kept.exists() and (home / "staticfiles" / "collected.json").is_file():
        shutil.copytree(home / "staticfiles", _kept)
