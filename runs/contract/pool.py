"""What server and supervisor both know of a pool: its bounds, their limits, and how old a report may get."""

import re

DEFAULT_MIN = 1
DEFAULT_MAX = 3
LARGEST_POOL = 64  # workers of one machine: each may hold a workspace and an agent
DEFAULT_COOL_DOWN = 60  # seconds without work before an idle worker beyond the minimum leaves
LONGEST_COOL_DOWN = 86_400
REPORT_SECONDS = 2.0  # between two reports of a supervisor
PENDING_SECONDS = 1.0  # the same while a worker of it is starting
SUPERVISOR_DEAD_SECONDS = 30.0  # fifteen missed reports
MOST_CLAIMABLE = 100  # runs are counted up to here: no pool starts more workers for more
POOL_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def bounds_fault(least: int, most: int) -> str | None:
    """What is wrong with these bounds of a pool, named as in the policy; None if they can be kept."""
    if not 1 <= most <= LARGEST_POOL:
        return f"max must be 1 to {LARGEST_POOL}, not {most}"
    if least < 0:
        return f"min must be 0 to {LARGEST_POOL}, not {least}"
    if least > most:
        return f"min {least} is more than max {most}"
    return None
