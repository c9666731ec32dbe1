"""Definitions' documents and input artifacts by hash: fetched, hashed again, and kept."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from runs.contract.canonical import bare_hex, bytes_hash
from workers.host.client import Backoff, Client, Unreachable, WireFault
from workers.host.disk.files import make_private, write_whole

CACHE_BYTES = 256 * 1024**2
TRIES = 5


class DocumentAltered(Exception):
    """What arrived has another hash than what was named."""


class InputUnavailable(Exception):
    """An input could not be fetched."""


class Documents:
    """The cache of one worker home. Several workers may share it: files are whole or absent."""

    def __init__(self, home: Path, client: Client, pause: Callable[[float], bool]) -> None:
        """``pause`` sleeps the given seconds and says whether to give up."""
        self._folder = make_private(home / "documents")
        self._client = client
        self._pause = pause

    def document(self, content_hash: str) -> bytes:
        """The bytes of a document, from the cache or the server; ``DocumentAltered`` if they are others."""
        cached = self._folder / bare_hex(content_hash)
        with contextlib.suppress(OSError):
            content = cached.read_bytes()
            if bytes_hash(content) == content_hash:
                os.utime(cached)
                return content
        content = self._fetch(f"/worker/v1/documents/{bare_hex(content_hash)}")
        if bytes_hash(content) != content_hash:
            raise DocumentAltered(content_hash)
        write_whole(cached, content)
        self._shrink()
        return content

    def artifact(self, content_hash: str, run_id: str, attempt: int) -> bytes:
        """The bytes of a declared input artifact; ``InputUnavailable`` if they cannot be had unaltered."""
        content = self._fetch(f"/worker/v1/artifacts/{bare_hex(content_hash)}?runId={run_id}&attempt={attempt}")
        if bytes_hash(content) != content_hash:
            raise InputUnavailable(f"{content_hash} arrived with another hash")
        return content

    def _fetch(self, path: str) -> bytes:
        backoff = Backoff()
        last = ""
        for _ in range(TRIES):
            try:
                return self._client.get(path).content
            except (Unreachable, WireFault) as error:
                last = str(error)
                if isinstance(error, WireFault) and error.http < 500 and error.http != 429:  # noqa: PLR2004 -- final
                    break
            if self._pause(backoff.next()):
                break
        raise InputUnavailable(last)

    def _shrink(self) -> None:
        files = []
        for path in self._folder.glob("[!.]*"):  # what begins with a dot is being written
            with contextlib.suppress(OSError):  # another worker of this home removed it
                found = path.stat()
                files.append((found.st_mtime, found.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files)[:-1]:
            if total <= CACHE_BYTES:
                return
            total -= size
            path.unlink(missing_ok=True)
