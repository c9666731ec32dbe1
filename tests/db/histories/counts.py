"""How often the histories of a run took each edge and met each fault, whichever process played them.

A run that played every history fails where an edge was never taken or a fault never struck.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

HISTORIES = 500  # of a whole run
PLAYED = "histories"
# What only a socket, a clone or a worker can meet, and the test in which it does.
STRUCK_ELSEWHERE = {
    "hang_next": "tests/process/faults/test_forge.py",
    "hold_answer": "tests/process/faults/test_killed_while_merging.py",
    "cut_git": "tests/process/faults/test_forge.py",
    "reject_push": "tests/unit/simulator/test_git.py",
}
_counts: Counter[str] = Counter()


def note(more: Mapping[str, int]) -> None:
    """Add what was played here, or what another process reports."""
    _counts.update(more)


def counts() -> Counter[str]:
    """Everything until now."""
    return _counts


def names() -> list[str]:
    """What has to be met: each edge of both flows, and each fault that can strike within one process."""
    from convergence.flow import CONVERGENCE_MACHINE
    from fixtures.simulator.faults import Faults
    from merging.flow import MERGE_MACHINE

    edges = [
        f"{machine.name}:{edge.name}" for machine in (CONVERGENCE_MACHINE, MERGE_MACHINE) for edge in machine.edges
    ]
    return edges + [f"fault:{name}" for name in Faults.NAMES if name not in STRUCK_ELSEWHERE]


def never() -> list[str]:
    """What a run that played every history never met."""
    whole = _counts[PLAYED] >= HISTORIES
    return [name for name in names() if not _counts[name]] if whole else []


def lines() -> list[str]:
    """The counts for the end of a run, rarest first; none where no history was played."""
    if not _counts[PLAYED]:
        return []
    met = sorted({*names(), *_counts} - {PLAYED}, key=lambda name: (_counts[name], name))
    return [f"{_counts[PLAYED]} histories", ", ".join(f"{name} {_counts[name]}" for name in met)]


def struck_by(faults: Any) -> Counter[str]:
    """The counts of the faults of one world."""
    found: Counter[str] = Counter()
    for fault in faults.all:
        found[f"fault:{fault.name}"] += fault.struck
    return found
