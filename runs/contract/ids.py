"""The forms of ids that server and worker share: runs, attempts, workers, nodes."""

import re
import secrets
import time
from datetime import UTC, datetime

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NODE_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
RUN_PATTERN = re.compile(r"run_[0-7][0-9A-HJKMNP-TV-Z]{25}")
WORKER_PATTERN = re.compile(r"(?P<node>[a-z0-9][a-z0-9-]{0,62})\.\d{8}T\d{6}Z\.[0-9a-f]{6}")
ATTEMPT_PATTERN = re.compile(r"(?P<run>run_[0-7][0-9A-HJKMNP-TV-Z]{25})-a(?P<number>[1-9]\d*)")
REPOSITORY_PATTERN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*)/[A-Za-z0-9._-]+")


def ulid(at: datetime | None = None) -> str:
    """26 characters of Crockford's base 32: 48 bits of milliseconds, then 80 random bits."""
    milliseconds = int(at.timestamp() * 1000) if at is not None else time.time_ns() // 1_000_000
    number = (milliseconds & (2**48 - 1)) << 80 | secrets.randbits(80)
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def run_id(at: datetime | None = None) -> str:
    """``run_`` and a ULID; ids made later sort later, to the millisecond."""
    return f"run_{ulid(at)}"


def worker_id(node: str, started: datetime | None = None) -> str:
    """``<node>.<UTC start>.<6 hex>``, new at every boot."""
    instant = (started or datetime.now(UTC)).astimezone(UTC)
    return f"{node}.{instant:%Y%m%dT%H%M%SZ}.{secrets.token_hex(3)}"


def attempt_name(run: str, number: int) -> str:
    """``<run id>-a<number>``: names folders, spool entries and the marker in an agent's environment."""
    return f"{run}-a{number}"


def attempt_parts(name: str) -> tuple[str, int] | None:
    """Run id and number of an attempt's name, or None if it is not one."""
    match = ATTEMPT_PATTERN.fullmatch(name)
    return (match["run"], int(match["number"])) if match else None


def new_nonce() -> str:
    """128 random bits in hex: binds a result to the attempt whose path carries it."""
    return secrets.token_hex(16)
