"""The end of a job's log: what a repairing agent reads first. Never raised for: a log that cannot be read is absent."""

from urllib.parse import urlsplit

import requests

from convergence.forge.client import ForgeClient
from convergence.forge.wire.transport import RedirectedElsewhere
from runs.contract.errors import FactoryError

MOST_LINES = 200
MOST_BYTES = 16 * 1024
LARGEST_LOG = 32 * 1024 * 1024  # bytes that are read to find the end
READ_SECONDS = 20.0
CHUNK_BYTES = 64 * 1024


def job_log_tail(client: ForgeClient, owner: str, name: str, job: int) -> str | None:
    """Return the last 200 lines, at most 16 KiB, of a job's log; None when it cannot be read now.

    The forge answers with an address of its storage. That is asked without the token, which is not meant for it.
    """
    try:
        content = client.raw(f"repos/{owner}/{name}/actions/jobs/{job}/logs")
    except RedirectedElsewhere as elsewhere:
        fetched = _fetched(elsewhere.location)
        if fetched is None:
            return None
        content = fetched
    except FactoryError:
        return None
    return log_tail(content.decode(errors="replace"))


def log_tail(text: str) -> str:
    """Return the last lines of a text, cut at a line where there is one within bounds."""
    lines = text.rstrip().splitlines()[-MOST_LINES:]
    tail = "\n".join(lines).encode()
    if len(tail) <= MOST_BYTES:
        return tail.decode()
    cut = tail[-MOST_BYTES:]
    _, newline, rest = cut.partition(b"\n")
    return (rest if newline else cut).decode(errors="ignore")


def _fetched(location: str) -> bytes | None:
    if urlsplit(location).scheme not in {"https", "http"}:
        return None
    kept = b""
    try:
        with requests.get(location, timeout=READ_SECONDS, stream=True, allow_redirects=False) as answer:
            if answer.status_code != requests.codes.ok:
                return None
            size = 0
            for chunk in answer.iter_content(CHUNK_BYTES):
                size += len(chunk)
                if size > LARGEST_LOG:
                    return None
                kept = (kept + chunk)[-4 * MOST_BYTES :]
    except requests.RequestException:
        return None
    return kept
