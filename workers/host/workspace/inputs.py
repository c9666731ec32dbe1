"""Declared input artifacts as files in the working directory."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from workers.host.disk.documents import InputUnavailable

LARGEST_INPUTS = 64 * 1024**2  # bytes of all inputs together
READ_ONLY = 0o444


def place_inputs(work: Path, inputs: Sequence[Mapping[str, Any]], fetch: Callable[[str], bytes]) -> None:
    """Each input at its relative path, mode 0444; ``InputUnavailable`` for a bad path or too many bytes."""
    names = [safe_relative(str(item["as"])) for item in inputs]
    if len(set(names)) != len(names):
        raise InputUnavailable("two inputs have the same path")
    total = 0
    for name, item in zip(names, inputs, strict=True):
        content = fetch(item["sha256"])
        total += len(content)
        if total > LARGEST_INPUTS:
            raise InputUnavailable(f"the inputs are larger than {LARGEST_INPUTS} bytes")
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(READ_ONLY)


def safe_relative(text: str) -> PurePosixPath:
    """A relative path that stays below its root; ``InputUnavailable`` otherwise."""
    path = PurePosixPath(text)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in text:
        raise InputUnavailable(f"{text!r} is no relative path below the workspace")
    return path
