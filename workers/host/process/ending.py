"""Nothing of an attempt is alive afterwards: the one routine by which agents end, on every path.

SIGTERM to the group and a grace, then SIGKILL to the group, to every descendant and to every process that carries the
attempt's marker, until two looks find none. No process is signalled without a comparison of its start token.

A minder that gets all orphans and has no child left proves that nothing lives below it: what is not there cannot fork.
Then one look is enough, for what carries the marker elsewhere.
"""

import contextlib
import logging
import os
import signal
import time
from dataclasses import dataclass

from workers.host.process.identity import (
    ProcessId,
    ProcessRow,
    carries,
    descendants,
    identify,
    is_alive,
    look,
    send_signal,
    start_token,
)
from workers.host.process.survivors import survivors_note

MARKER_NAME = "FACTORY_ATTEMPT"
LOOKS = 2  # that must find nothing: a fork between two steps of one look is seen by the next
BETWEEN_LOOKS = 0.1  # seconds between the two looks that must both find nothing
KILL_PAUSE = 0.02  # seconds that the kernel gets to bury what was killed
UNKILLABLE_EVERY = 30.0  # seconds until a process that survives SIGKILL is told of, and between two log lines

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Quarry:
    """What belongs to one attempt: below ``leader``, in the group of ``agent``, or marked.

    With a blank ``attempt`` nothing is marked. The leader (the minder) is spared while its worker lives: it still has
    to report.
    """

    attempt: str
    leader: ProcessId | None = None
    agent: ProcessId | None = None
    spare_leader: bool = True


def end_processes(quarry: Quarry, *, grace: float, childless: bool = False) -> None:
    """Returns when no process of the attempt is alive; ``grace`` in seconds, 0 for SIGKILL at once.

    ``childless``: the leader gets the orphans among its descendants and said that it has no child left.
    """
    known: dict[int, ProcessId] = {}
    victims = _hunt(quarry, known)
    if victims and grace > 0:
        _ask(quarry, grace)
        victims = _hunt(quarry, known)
    looks = 1 if childless else LOOKS
    begun = told = time.monotonic()
    while victims or looks > 1:
        if victims:
            looks = LOOKS
            _kill(victims)
            if time.monotonic() - told >= UNKILLABLE_EVERY:
                told = time.monotonic()
                survivors_note(victims)
                log.error("event=unkillable_process attempt=%s pids=%s s=%d", quarry.attempt,
                          ",".join(str(victim.pid) for victim in victims), told - begun)  # fmt: skip
        else:
            looks -= 1
            time.sleep(BETWEEN_LOOKS)
        victims = _hunt(quarry, known)


def end_below() -> None:
    """Nothing that this process started is alive afterwards, in whatever session; SIGKILL at once."""
    end_processes(Quarry(attempt="", leader=identify(os.getpid())), grace=0)


def _ask(quarry: Quarry, grace: float) -> None:
    members = _group(quarry, look(quarry.leader))
    for member in members:
        send_signal(member, signal.SIGTERM)
    until = time.monotonic() + grace
    while time.monotonic() < until and any(is_alive(member) for member in members):
        time.sleep(KILL_PAUSE)
        members = _group(quarry, look(quarry.leader))


def _group(quarry: Quarry, rows: list[ProcessRow]) -> list[ProcessId]:
    agent = quarry.agent
    # A pid is not reused while a group of that number lives, so another start token means that the group is gone.
    if agent is None or start_token(agent.pid) not in {None, agent.start}:
        return []
    return [row.identity for row in rows if row.group == agent.pid and not row.zombie]


def _hunt(quarry: Quarry, known: dict[int, ProcessId]) -> list[ProcessId]:
    # Descendants, group and marker are all younger than the minder.
    rows = look(quarry.leader)
    found: set[ProcessId] = set(_group(quarry, rows))
    leader = quarry.leader
    if leader is not None and is_alive(leader):
        found.update(descendants(rows, leader.pid))
        if not quarry.spare_leader:
            found.add(leader)
    if quarry.attempt:
        marker = f"{MARKER_NAME}={quarry.attempt}"
        found.update(row.identity for row in rows if not row.zombie and carries(row.identity, marker))
    # Once seen below the leader, a process is ours also when its parent died and it made a session of its own.
    known.update({process.pid: process for process in found})
    found.update(process for process in known.values() if is_alive(process))
    own = os.getpid()
    return [process for process in found if process.pid != own and is_alive(process)]


def _kill(victims: list[ProcessId]) -> None:
    for victim in victims:
        send_signal(victim, signal.SIGKILL)
    time.sleep(KILL_PAUSE)
    # Orphans of a killed minder become children of this process, which has to reap them.
    for victim in victims:
        with contextlib.suppress(OSError):
            os.waitpid(victim.pid, os.WNOHANG)
