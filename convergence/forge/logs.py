"""The end of a job's log: what a repairing agent reads first. Never raised for: a log that cannot be read is absent."""

from convergence.forge.client import ForgeClient
from convergence.forge.wire.storage import stored_tail
from convergence.forge.wire.transport import RedirectedElsewhere
from runs.contract.errors import FactoryError

MOST_LINES = 200
MOST_BYTES = 16 * 1024


def job_log_tail(client: ForgeClient, owner: str, name: str, job: int) -> str | None:
    """Return the last 200 lines, at most 16 KiB, of a job's log; None when it cannot be read now.

    The forge answers with an address of its storage. That is asked without the token, which is not meant for it.
    """
    try:
        content = client.raw(f"repos/{owner}/{name}/actions/jobs/{job}/logs")
    except RedirectedElsewhere as elsewhere:
        fetched = stored_tail(elsewhere.location, keep=4 * MOST_BYTES)
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
