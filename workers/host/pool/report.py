"""A supervisor's question to the control plane: its report goes there, the counts that it decides by come back."""

import logging
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.contract.codes import Reaction
from runs.contract.errors import Invalid
from runs.contract.pool_wire import LONGEST_LINE
from runs.contract.wire import PROTOCOL_VERSION, check_answer
from workers.host.client import Client, Unreachable, WireFault
from workers.host.offer import Offering
from workers.host.pool.decision import Decision
from workers.host.pool.run_folder import Slot
from workers.host.pool.timers import CrashBackoff
from workers.host.process.survivors import survivors

OFFER_KEYS = ("labels", "adapters", "anyAdapter", "adapterOverride", "workspaceKinds", "repositories")
PATIENCE = 5.0  # seconds that a tick waits for the answer; later ones are of no use any more
LOOK_SECONDS = 0.25  # between two looks at dead workers meanwhile
COMPLAINT_SECONDS = 60.0  # between two log lines about the same refusal

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSaid:
    """What the registry knows of a worker of this pool."""

    state: str
    run_id: str | None
    lost: bool
    holds_attempt: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """An answer: what may be claimed, what the listed workers do, and the bounds in force."""

    claimable: int
    idle: int
    busy: int
    min: int
    max: int
    next_seconds: float
    liveness: float
    workers: Mapping[str, WorkerSaid]


@dataclass(frozen=True, slots=True)
class Question:
    """What a report says beside the offer."""

    bounds: tuple[int, int]
    slots: Sequence[Slot]
    decision: Decision
    crashes: CrashBackoff
    stopping: bool = False


class Reporter:
    """Asks in a thread of its own, so that a control plane that hangs delays nothing else."""

    def __init__(self, client: Client, offering: Offering, pool: str) -> None:
        """Nothing is asked yet."""
        self._client = client
        self._offering = offering
        self._pool = pool
        self._questions: queue.SimpleQueue[tuple[int, Question]] = queue.SimpleQueue()
        self._answered = threading.Condition()
        self._asked = self._answers = 0
        self._latest: Counts | None = None
        self._complained: dict[str, float] = {}
        threading.Thread(target=self._run, name="report", daemon=True).start()

    def ask(self, question: Question, meanwhile: Callable[[], None], seconds: float = PATIENCE) -> Counts | None:
        """The counts, or None if they are not to be had within ``seconds``; ``meanwhile`` runs while it waits."""
        if self._asked > self._answers:
            return None  # the request before still hangs: its answer would be about other workers
        self._asked += 1
        self._questions.put((self._asked, question))
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with self._answered:
                if self._answers == self._asked or self._answered.wait(LOOK_SECONDS):
                    return self._latest
            meanwhile()
        return None

    def _run(self) -> None:
        while True:
            number, question = self._questions.get()
            try:
                counts = self._post(question)
            except Exception:
                log.exception("event=report_failed")
                counts = None
            with self._answered:
                self._latest, self._answers = counts, number
                self._answered.notify_all()

    def _post(self, question: Question) -> Counts | None:
        try:
            answer = self._client.post("/worker/v1/pool", self._body(question)).document
            check_answer("pool", answer)
        except Unreachable as error:
            self._complain("unreachable", f"event=unreachable url={self._client.url} error={error}")
        except Invalid as error:
            self._complain("malformed", f"event=malformed_answer error={error.message!r}")
        except WireFault as fault:
            self._refused(fault)
        else:
            return _counts(answer)
        return None

    def _refused(self, fault: WireFault) -> None:
        if fault.code == "capability_escalation" and self._offering.narrow(fault):
            log.info("event=offer_narrowed without=%s", ",".join(sorted(self._offering.narrowed)) or "repositories")
            return
        if fault.reaction is Reaction.STOP_CLAIMING:
            self._client.credentials.reread(force=True)
        self._complain(fault.code, f"event=refused code={fault.code} message={str(fault)!r}")

    def _body(self, question: Question) -> dict[str, Any]:
        offer = self._offering.claim()
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "pool": self._pool,
            "supervisorVersion": offer["workerVersion"],
            "host": socket.gethostname(),
            "min": question.bounds[0],
            "max": question.bounds[1],
            "stopping": question.stopping,
            "offer": {key: offer[key] for key in OFFER_KEYS},
            "workers": [
                {"slot": slot.number, "workerId": slot.worker_id, "draining": slot.draining} for slot in question.slots
            ],
            "decision": {"action": question.decision.action, "reason": question.decision.reason},
            "crashes": {
                "inARow": question.crashes.in_a_row,
                "lastLine": question.crashes.last_line[:LONGEST_LINE],
            },
            "unkillable": survivors(),
        }

    def _complain(self, topic: str, line: str) -> None:
        last = self._complained.get(topic)
        if last is None or time.monotonic() - last >= COMPLAINT_SECONDS:
            self._complained[topic] = time.monotonic()
            log.warning("%s", line)


def _counts(answer: Mapping[str, Any]) -> Counts:
    return Counts(
        claimable=answer["claimable"],
        idle=answer["idle"],
        busy=answer["busy"],
        min=answer["min"],
        max=answer["max"],
        next_seconds=answer.get("nextInMs", 2000) / 1000,
        liveness=float(answer.get("livenessSeconds", 90)),
        workers={
            each["workerId"]: WorkerSaid(each["state"], each.get("runId"), each["lost"], each["heldAttempt"])
            for each in answer["workers"]
        },
    )
