"""A supervisor that runs anew: on SIGHUP and on new code, with the same pid, adopting its pool."""

import logging
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from runs.contract.errors import Invalid
from runs.contract.stamp import code_stamp
from workers.host.pool.bounds import read_policy_bounds

STAMP_SECONDS = 5.0  # between two looks at the code on disk
HELD_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Restart:
    """Says when it is time. ``asked`` is set by SIGHUP."""

    version: str
    home: Path
    flag: tuple[int, int] | None
    asked: bool = False
    _looked_at: float = field(default_factory=time.monotonic)

    def ask(self) -> None:
        """Run anew before the next tick."""
        self.asked = True

    def is_due(self) -> bool:
        """Whether this process should run anew now. Bounds that cannot be read keep it as it is, and are said."""
        if not self.asked:
            return self._code_changed()
        self.asked = False
        try:
            read_policy_bounds(self.home, self.flag)
        except Invalid as error:
            log.error("event=reload_refused error=%r", error.message)  # noqa: TRY400 -- no stack for people
            return False
        return True

    def _code_changed(self) -> bool:
        now = time.monotonic()
        if now - self._looked_at < STAMP_SECONDS:
            return False
        self._looked_at = now
        changed = code_stamp() != self.version
        if changed:
            log.info("event=code_changed")
        return changed


def run_anew() -> NoReturn:
    """Become the same command anew; pid and children stay.

    Signals stay blocked until the new program listens, so that none ends it undrained. The lock is taken anew.
    """
    log.info("event=restart pid=%d", os.getpid())
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 -- an argv list, and no shell


def listen() -> None:
    """Take the signals that came while this program was becoming itself."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_SIGNALS)
