"""Starting one worker in a slot: detached, with logs of its own, and without a secret in its argv."""

import os
import sys
from collections.abc import Sequence

from workers.host.pool.run_folder import RunFolder

DETACHED_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def spawn_worker(run: RunFolder, number: int, *, pool: str, argv: Sequence[str]) -> int:
    """The pid of a new worker that has the slot; ``OSError`` if its program cannot be started.

    It is in a session of its own and outlives this process. Its streams go to ``worker-N.out``, which holds what this
    worker said and nothing of its predecessors.
    """
    run.clear(number)
    program = [sys.executable, "-m", "workers.host", *argv, f"--drain-file={run.drain_file(number)}"]
    environment = {
        **os.environ,
        "FACTORY_POOL": pool,
        "FACTORY_POOL_SLOT": str(number),
        "FACTORY_RUN_DIR": str(run.path),
    }
    pid = os.posix_spawn(
        program[0],
        program,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(run.output(number)), DETACHED_OUTPUT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
    )
    run.take(number, pid)
    return pid


def exit_code(pid: int) -> int | None:
    """How a dead worker ended; None for one that is no child of this process, which was adopted from another."""
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if found else None
