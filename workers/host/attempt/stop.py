"""Why the worker ends an agent; where several reasons meet, the first of the list decides."""

from enum import IntEnum

from workers.host.process.launcher import Interruption


class StopReason(IntEnum):
    """In the order in which they decide the outcome."""

    FENCED = 1
    LEASE_OVER = 2
    CANCELLED = 3
    DRAIN = 4
    BUDGET = 5
    DEADLINE = 6
    CREDENTIAL = 7
    FAULT = 8


PUBLISHES_NOTHING = frozenset({StopReason.FENCED, StopReason.LEASE_OVER})


class Stop(Interruption):
    """An interruption that remembers why."""

    def __init__(self) -> None:
        """Nothing asked for the end."""
        super().__init__()
        self._reasons: set[StopReason] = set()

    @property
    def reason(self) -> StopReason | None:
        """The reason that decides, None while the attempt goes on."""
        return min(self._reasons, default=None)

    def because(self, reason: StopReason, *, no_grace: bool = False) -> None:
        """End what runs, for this reason."""
        self._reasons.add(reason)
        self.set(no_grace=no_grace)

    def forgive(self, reason: StopReason) -> None:
        """This reason has had its effect; what follows may run, unless another one came."""
        self._reasons.discard(reason)
        if not self._reasons:
            self.clear()
