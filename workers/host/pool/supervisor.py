"""The supervisor: reads the slots, asks for the counts, decides once and acts once, tick after tick."""

import logging
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runs.contract.pool import PENDING_SECONDS, REPORT_SECONDS
from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.host_config import HostConfig
from workers.host.options import Options
from workers.host.pool.bounds import Bounds
from workers.host.pool.dead import MISSING_PROGRAM, Dead
from workers.host.pool.decision import Action, Decision, Facts, facts_line, pool_decision
from workers.host.pool.hung import Due, Hung
from workers.host.pool.options import PoolOptions
from workers.host.pool.report import Counts, Question, Reporter
from workers.host.pool.run_folder import RunFolder, Slot
from workers.host.pool.spawning import spawn_worker
from workers.host.pool.timers import Since
from workers.host.process.identity import send_signal
from workers.host.settings import Settings
from workers.host.signals import Signals

LOOK_SECONDS = 0.25  # between two looks at dead workers and signals

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this supervisor knows of its machine; its offer is made of it as a worker's is."""

    settings: Settings
    options: Options
    config: HostConfig
    home: Path
    registry: AdapterRegistry
    tokens: TokenSource
    version: str


@dataclass(slots=True)
class Supervisor:
    """One run folder, its slots and their workers. ``bounds`` are those in force, ``own`` those of this machine."""

    options: PoolOptions
    own: Bounds
    dead: Dead
    reporter: Reporter
    signals: Signals
    bounds: tuple[int, int] = (0, 0)
    decision: Decision = field(default_factory=lambda: Decision(Action.HOLD, "starting"))
    _hung: Hung = field(default_factory=Hung)
    _surplus: Since = field(default_factory=Since)
    _stuck: Since = field(default_factory=Since)
    _counts: Counts | None = None

    def __post_init__(self) -> None:
        """The own bounds are in force until the control plane says others."""
        self.bounds = (self.own.min, self.own.max)

    @property
    def run_folder(self) -> RunFolder:
        """Where the slots are."""
        return self.dead.run_folder

    def tick(self) -> None:
        """Free dead slots, read the counts, decide once, act once."""
        self.dead.bury()
        slots = self.living()
        self._counts = self.ask(slots)
        if self._counts is not None:
            self.bounds = (self._counts.min, self._counts.max)
        now = time.monotonic()
        facts = self._facts(slots, now)
        due = self._hung.due(slots, self._counts, now)
        if due is not None:
            self._replace(due, facts)
        else:
            self._act(pool_decision(facts), slots, facts)

    def living(self) -> list[Slot]:
        """The slots whose process is ours and alive."""
        return [slot for slot in self.run_folder.slots() if slot.alive]

    def ask(self, slots: Sequence[Slot], *, stopping: bool = False) -> Counts | None:
        """Report and return the counts; None while they are unknown. Dead workers are looked after meanwhile."""
        question = Question((self.own.min, self.own.max), slots, self.decision, self.dead.crashes, stopping)
        return self.reporter.ask(question, self.dead.bury)

    def pause(self) -> None:
        """Wait for the next tick; a signal or a worker that wants to run on new code ends the wait."""
        until = time.monotonic() + self._interval()
        while (left := until - time.monotonic()) > 0 and not self.dead.reloads:
            if self.signals.pause(min(left, LOOK_SECONDS)):
                return
            self.dead.bury()

    def _interval(self) -> float:
        interval = self.options.interval or (self._counts.next_seconds if self._counts else REPORT_SECONDS)
        return min(interval, PENDING_SECONDS) if self._starting(self.living()) else interval

    def _starting(self, slots: Sequence[Slot]) -> int:
        grace = self.options.spawn_grace
        return sum(slot.worker_id is None and slot.age() < grace for slot in slots)

    def _facts(self, slots: Sequence[Slot], now: float) -> Facts:
        """The facts as they were when the counts were asked for: a slot and what is counted of it fit together."""
        counts = self._counts
        idle = counts.idle if counts else 0
        claimable = counts.claimable if counts else None
        return Facts(
            claimable=claimable,
            idle=idle,
            busy=counts.busy if counts else 0,
            pool=len(slots),
            pending=self._starting(slots),
            draining=sum(slot.draining for slot in slots),
            min=self.bounds[0],
            max=self.bounds[1],
            surplus=self._surplus.seconds(now, holds=claimable == 0 and idle > 0),
            stuck=self._stuck.seconds(now, holds=bool(claimable) and idle > 0),
            cool_down=self.own.cool_down,
            reload=self.dead.reloads > 0,
            backoff=self.dead.crashes.runs(now),
        )

    def _act(self, decision: Decision, slots: Sequence[Slot], facts: Facts) -> None:
        number = self.run_folder.free_slot(facts.max)
        if decision.action is Action.SPAWN and number is None:
            decision = Decision(Action.HOLD, "slot_not_free")  # what a dead worker left still holds it
        if decision.action is Action.SPAWN and number is not None:
            self._say(decision, facts, number)
            self._spawn(number)
        elif decision.action is Action.DRAIN:
            slot = self._leaver(slots)
            self._say(decision, facts, slot.number)
            self.run_folder.ask_to_leave(slot.number, decision.reason)
        elif decision.action is Action.UNDRAIN:
            slot = next(slot for slot in slots if slot.draining)
            self._say(decision, facts, slot.number)
            self.run_folder.keep(slot.number)
        elif decision != self.decision:
            self._say(decision, facts)
        self.decision = decision

    def _leaver(self, slots: Sequence[Slot]) -> Slot:
        """The highest slot that the counts call idle, else the highest that is not asked to leave yet."""
        staying = [slot for slot in slots if not slot.draining]
        known = self._counts.workers if self._counts else {}
        idle = [slot for slot in staying if (said := known.get(slot.worker_id or "")) and said.state == "idle"]
        return (idle or staying)[-1]

    def _spawn(self, number: int) -> None:
        self.dead.reloads = max(0, self.dead.reloads - 1)
        try:
            spawn_worker(self.run_folder, number, pool=self.options.pool, argv=self.options.worker_argv)
        except OSError as error:
            self.dead.crashed(number, MISSING_PROGRAM, lived=0.0, line=str(error))

    def _replace(self, due: Due, facts: Facts) -> None:
        self.decision = Decision(Action.REPLACE, "kill" if due.number == signal.SIGKILL else "terminate")
        self._say(self.decision, facts, due.slot.number)
        send_signal(due.slot.process, due.number)

    def _say(self, decision: Decision, facts: Facts, slot: int | None = None) -> None:
        where = f" slot={slot}" if slot is not None else ""
        log.info("action=%s%s reason=%s %s", decision.action, where, decision.reason, facts_line(facts))
