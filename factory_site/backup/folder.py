"""Which files of the data folder a backup holds, and how they come back."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from factory_site.config import SETTINGS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = ("admin.json", "policy.yaml", "secret.key", SETTINGS_FILE)
FOLDERS = ("registry", "secrets")  # definitions of this site; credentials of its workers
ASIDE = ".restored"  # settings name databases and addresses of a machine, so a person compares them


def files_kept(home: Path) -> Iterator[Path]:
    """The files that exist, links left out."""
    found = [home / name for name in FILES]
    for folder in FOLDERS:
        found += sorted((home / folder).rglob("*"))
    yield from (path for path in found if path.is_file() and not path.is_symlink())


def file_put_back(home: Path, name: str, source: IO[bytes]) -> Path | None:
    """Put one file back, for its owner alone, and return where; None when a name leads out of the kept places.

    Settings that exist stay as they are: the restored ones lie beside them.
    """
    parts = PurePosixPath(name).parts
    if ".." in parts or not (name in FILES or (parts and parts[0] in FOLDERS)):
        return None
    target = home.joinpath(*parts)
    if name == SETTINGS_FILE:
        target = target.with_name(target.name + ASIDE)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.partial")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(source.read())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(target)
    return target
