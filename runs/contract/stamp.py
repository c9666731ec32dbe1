"""The code stamp of a worker: ``<version>+<8 hex>`` over the files that make up its behaviour."""

import hashlib
from pathlib import Path

VERSION = "0.1.0"  # the product version, for a process that must not import the site package
PACKAGE_ROOT = Path(__file__).resolve().parents[2]
STAMPED_FOLDERS = ("workers/host", "runs/contract")  # the adapters lie below workers/host
STAMP_DIGITS = 8


def code_stamp(root: Path = PACKAGE_ROOT, version: str = VERSION) -> str:
    """The stamp of the code on disk now, by path and content, never by mtime."""
    digest = hashlib.sha256()
    for folder in STAMPED_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                digest.update(path.relative_to(root).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{version}+{digest.hexdigest()[:STAMP_DIGITS]}"
