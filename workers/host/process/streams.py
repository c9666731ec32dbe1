"""What an agent prints, drained from the first byte to the last: redacted, bounded, and cut into lines."""

import os
import re
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from runs.contract.redactor import RedactedStream, Redactor

LINE_BYTES = 1024**2  # of a line for the parser; the rest goes to the log alone
TRANSCRIPT_BYTES = 48 * 1024**2
CONSOLE_BYTES = 8 * 1024**2
RING_BYTES = 1024**2  # the end of a stream that outgrew its log
TAIL_BYTES = 256 * 1024  # the end of a stream that may hold the result
ERROR_TAIL = 2000  # characters in the detail of a failure
OWN_PREFIX = b"::factory:"  # lines for the worker, read also after the log is full
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class Ring:
    """The last ``limit`` bytes of a stream, raw and in memory only."""

    def __init__(self, limit: int) -> None:
        """``limit`` in bytes."""
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self.cut = False

    def add(self, chunk: bytes) -> None:
        """Keep the chunk and forget what lies further back than the limit."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
            self.cut = True

    def text(self, redactor: Redactor) -> str:
        """The redacted end of the stream; where it was cut it begins with a whole line, or behind a split secret."""
        content = b"".join(self._chunks)[-self._limit :]
        text = _clean(content.decode("utf-8", "replace"))
        if self.cut or len(content) == self._limit:
            newline = text.find("\n")
            text = text[newline + 1 :] if newline >= 0 else text[redactor.overlap :]
        return redactor.redact(text)


class BoundedLog:
    """A log file that never outgrows its cap: a marker line, then only the last MiB is kept. Safe for threads."""

    def __init__(self, path: Path, cap: int, redactor: Redactor, *, plain: bool) -> None:
        """``plain``: people read it, so terminal sequences are removed."""
        self._file = path.open("ab")
        self._cap = cap
        self._redactor = redactor
        self._plain = plain
        self._written = 0
        self._dropped = 0
        self._ring = Ring(RING_BYTES)
        self._lock = threading.Lock()
        self.full = False

    def write(self, text: str) -> None:
        """Append redacted text while there is room."""
        content = (ANSI.sub("", text) if self._plain else text).encode("utf-8", "replace")
        with self._lock:
            room = self._cap - self._written
            self._file.write(content[:room])
            self._written += min(room, len(content))
            if len(content) >= room:
                self.full = True

    def overflow(self, chunk: bytes) -> None:
        """Keep the raw chunk in the ring of a full log."""
        with self._lock:
            self._dropped += len(chunk)
            self._ring.add(chunk)

    def close(self) -> None:
        """Write the marker and the kept end, if anything was dropped."""
        with self._lock:
            if self._dropped:
                end = self._ring.text(self._redactor)
                marker = f"\n[factory: {self._dropped} bytes beyond the limit; their end follows]\n"
                self._file.write((marker + end).encode("utf-8", "replace"))
            self._file.close()


class StreamPump:
    """One pipe of an agent: log, tail and lines. ``feed`` is called by one thread and never waits."""

    def __init__(self, redactor: Redactor, log: BoundedLog | None, on_line: Callable[[str], None] | None) -> None:
        """``on_line`` gets redacted lines without their end; it must be quick and must not raise."""
        self._redactor = redactor
        self._stream = RedactedStream(redactor)
        self._log = log
        self._on_line = on_line
        self._pending = bytearray()
        self._oversize = False
        self.tail = Ring(TAIL_BYTES)
        self.oversize_lines = 0

    def drain(self, descriptor: int) -> None:
        """Read the pipe to its end and close it."""
        try:
            while chunk := os.read(descriptor, 65536):
                self.feed(chunk)
        finally:
            self.finish()
            os.close(descriptor)

    def feed(self, chunk: bytes) -> None:
        """Take some bytes, split at LF only."""
        self.tail.add(chunk)
        self._pending += chunk
        at = self._pending.rfind(b"\n")
        if at >= 0:
            block = bytes(self._pending[: at + 1])
            del self._pending[: at + 1]
            self._take_block(block)
        if len(self._pending) > LINE_BYTES + self._redactor.overlap:
            self._take_piece()

    def finish(self) -> None:
        """The last line counts also without its LF."""
        if self._pending:
            block, self._pending = bytes(self._pending), bytearray()
            self._take_block(block)

    def _take_block(self, block: bytes) -> None:
        if self._log is not None and self._log.full:
            self._log.overflow(block)
            if OWN_PREFIX not in block:
                self._oversize = False
                return
        text = self._stream.feed(_clean(block.decode("utf-8", "replace")))
        if self._log is not None and not self._log.full:
            self._log.write(text)
        self._give_lines(text)

    def _give_lines(self, text: str) -> None:
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        if self._oversize:  # the head of this line was given already
            self._oversize = False
            lines = lines[1:]
        if self._on_line is not None:
            for line in lines:
                if len(line) > LINE_BYTES:
                    self.oversize_lines += 1
                self._on_line(line[:LINE_BYTES])

    def _take_piece(self) -> None:
        # Bytes of a character that is not complete yet stay behind.
        keep = 0
        while keep < 3 and self._pending[-1 - keep] >= 0x80:  # noqa: PLR2004 -- UTF-8: up to 3 bytes may lack the rest
            keep += 1
        cut = len(self._pending) - keep
        rest_bytes = bytes(self._pending[cut:])
        front, rest = self._redactor.cut(_clean(bytes(self._pending[:cut]).decode("utf-8", "replace")))
        self._pending = bytearray(rest.encode("utf-8", "replace") + rest_bytes)
        if self._log is not None:
            if self._log.full:
                self._log.overflow(front.encode("utf-8", "replace"))
            else:
                self._log.write(front)
        if not self._oversize:
            self._oversize = True
            self.oversize_lines += 1
            if self._on_line is not None:
                self._on_line(front[:LINE_BYTES])


def readable(text: str, limit: int = ERROR_TAIL) -> str:
    """The last characters of a text without terminal sequences."""
    return ANSI.sub("", text)[-limit:]


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd").replace("\r\n", "\n")
