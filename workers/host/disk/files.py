"""Files that survive a crash: whole or absent, private, and removed without following links."""

import contextlib
import json
import os
import shutil
import stat
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
PAGE = 4096  # bytes


def make_private(folder: Path) -> Path:
    """The folder, made with its parents, closed to others."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    return folder


def write_whole(path: Path, content: bytes, mode: int = PRIVATE_FILE, *, durable: bool = False) -> None:
    """Replace the file in one step: whoever reads it, also after a kill of this process, finds the old or the new one.

    With ``durable`` content and name survive a power failure too, which costs two writes to the disk.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_json(path: Path, document: Mapping[str, Any], *, durable: bool = False) -> None:
    """``write_whole`` of a JSON document, on one line: indented, it would be written by Python and not in C."""
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    write_whole(path, content, durable=durable)


def overwrite_json(path: Path, document: Mapping[str, Any]) -> None:
    """Put the document in the place of the one in the file; a kill of this process leaves the old or the new one.

    One write within one page of memory, and the file stays: a new file each time costs more than the rest of a short
    run. Padded, so that nothing is left of a longer document. Who reads it at the same moment may find neither.
    """
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass").ljust(PAGE)
    if len(content) > PAGE or not path.exists():
        write_whole(path, content)
        return
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, content, 0)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in the file, None if it is absent or no such thing."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def sync_folder(folder: Path) -> None:
    """Names in the folder survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Content of the file survives a power failure."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def copy_in(source: Path, target: Path) -> None:
    """The bytes of ``source`` at ``target``: hard-linked where that is possible, else copied; on disk."""
    with contextlib.suppress(FileExistsError):
        try:
            target.hardlink_to(source)
        except FileExistsError:
            raise
        except OSError:
            shutil.copyfile(source, target)
    sync_file(target)


def remove_tree(folder: Path) -> None:
    """The folder is gone: renamed first, read-only parts made writable, links never followed."""
    if not folder.exists() and not folder.is_symlink():
        return
    doomed = folder.with_name(f".removing-{uuid.uuid4().hex[:8]}-{folder.name}")
    try:
        folder.rename(doomed)
    except FileNotFoundError:
        return  # another worker of this home was faster
    shutil.rmtree(doomed, ignore_errors=True)
    if doomed.exists():
        _open_folders(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _open_folders(folder: Path) -> None:
    for parent, names, _ in os.walk(folder, followlinks=False):
        for name in (".", *names):
            path = Path(parent, name)
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(path.stat().st_mode | stat.S_IRWXU)


def tree_size(folder: Path) -> int:
    """Bytes of the files below a folder, links not followed."""
    total = 0
    for parent, _, names in os.walk(folder, followlinks=False):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total
