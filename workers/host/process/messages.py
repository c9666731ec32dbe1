"""What a worker and a minder tell each other over a pipe: a length and a value, in the interpreter's own format."""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False  # as `typing` has it, which would take a minder as long to load as everything else
if TYPE_CHECKING:
    from typing import Any

LENGTH_BYTES = 4


def read_message(descriptor: int) -> Any:
    """The next value, None at the end of the pipe."""
    size = _read(descriptor, LENGTH_BYTES)
    content = _read(descriptor, int.from_bytes(size, "big")) if size else b""
    return marshal.loads(content) if content else None  # noqa: S302 -- from this worker's own process


def send_message(descriptor: int, message: Any) -> None:
    """Write the value whole; whoever does not read any more is no error."""
    content = marshal.dumps(message)
    rest = memoryview(len(content).to_bytes(LENGTH_BYTES, "big") + content)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        return


def _read(descriptor: int, size: int) -> bytes:
    """So many bytes; none when the pipe ends before."""
    content = b""
    while len(content) < size:
        chunk = os.read(descriptor, size - len(content))
        if not chunk:
            return b""
        content += chunk
    return content
