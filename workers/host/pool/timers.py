"""Since when something holds, and the pause after workers that died at their start. Times are monotonic seconds."""

from dataclasses import dataclass, field

EARLY_SECONDS = 30.0  # a worker that ends sooner after its spawn did not work at all
SETTLED_SECONDS = 60.0  # a worker that has lived this long proves that workers can start
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
NOT_A_CRASH = frozenset({0, 75, 130})  # drained or stopped, restart me, second signal


@dataclass(slots=True)
class Since:
    """For how long a condition has held without a break."""

    began: float | None = None

    def seconds(self, now: float, *, holds: bool) -> int:
        """Note whether it holds now; whole seconds since it began to, 0 if it does not."""
        if not holds:
            self.began = None
        elif self.began is None:
            self.began = now
        return int(now - self.began) if self.began is not None else 0


@dataclass(slots=True)
class CrashBackoff:
    """How many workers died at their start in a row, and until when none is spawned for that."""

    in_a_row: int = 0
    last_line: str = ""
    until: float = field(default=0.0)
    at: float = field(default=0.0)

    def ended(self, code: int, *, lived: float, now: float, line: str) -> bool:
        """Note the end of a worker; True if it was a crash that begins a pause. ``line`` is what it said last."""
        if code in NOT_A_CRASH or lived >= EARLY_SECONDS:
            return False
        self.in_a_row += 1
        self.last_line, self.at = line, now
        self.until = now + self.pause
        return True

    def living(self, lived: float, *, now: float) -> None:
        """Note a worker that lives; one that settled after the last crash ends the row."""
        if self.in_a_row and lived >= SETTLED_SECONDS and now - lived >= self.at:
            self.in_a_row, self.last_line = 0, ""

    @property
    def pause(self) -> float:
        """Seconds that the crash that was last pauses the pool."""
        return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self.in_a_row - 1, 10))) if self.in_a_row else 0.0

    def runs(self, now: float) -> bool:
        """Whether nothing is spawned now."""
        return now < self.until
