"""The sign of life of an attempt: its own thread and connection, a held answer, and what each answer changes."""

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from runs.contract.codes import Phase, Reaction
from runs.contract.errors import FactoryError
from runs.contract.wire import HEARTBEAT_WAIT, check_answer
from workers.host.adapters.contract import Usage
from workers.host.attempt.claimed import Claimed
from workers.host.attempt.stop import Stop, StopReason
from workers.host.client import CREDENTIAL_PAUSE, Answer, Backoff, Client, Unreachable, WireFault, elapsed

HELD_SHARE = 0.9  # of the wait; an answer that took as long was held, and the next may be held at once
SHORTEST_GAP = 0.05  # seconds between two held requests, whatever the server answers
FIRST_HOLD = 0.5  # seconds after the claim; a cancel that comes before is told by the heartbeat that starts the agent

log = logging.getLogger(__name__)


class Heartbeats:
    """Liveness, phase, cancel, deadline, usage and budget of one attempt. Safe for threads."""

    def __init__(self, client: Client, claimed: Claimed, answer: Answer, stop: Stop,
                 is_draining: Callable[[], bool]) -> None:  # fmt: skip
        """``answer`` is the one that carried the claim; its instants count from its receipt."""
        self._client = client
        self._claimed = claimed
        self._stop = stop
        self._is_draining = is_draining
        self._path = f"/worker/v1/runs/{claimed.run_id}/heartbeat"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._sequence = 0
        self._phase = Phase.LEASED
        self._verify_reason: str | None = None
        self.usage = Usage()
        claim = answer.document["claim"]
        self.lease_over = answer.instant(claim["leaseExpiresAt"]) or answer.received
        self.due = answer.instant(claim["heartbeatDueAt"]) or answer.received
        self.agent_deadline: float | None = None
        self.deadline_recorded = False
        self.budget: Mapping[str, Any] = claim.get("budgetLeft") or {}
        self.cancel_reason: str | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeats", daemon=True)

    def start(self) -> None:
        """Begin; the claim was a sign of life, so the first held heartbeat leaves a moment later."""
        self._thread.start()

    def close(self) -> None:
        """No further heartbeat begins."""
        self._ended.set()

    def beat(self, phase: Phase | None = None, *, wait: float = 0.0, at_deadline: bool = False,
             reason: str | None = None) -> Answer:  # fmt: skip
        """One heartbeat now. Raises ``Unreachable`` or ``WireFault`` after taking note of what it means."""
        with self._lock:
            if phase is not None and phase is not self._phase:
                self._phase = phase
                self._verify_reason = reason
            self._sequence += 1
            body = self._body(self._sequence, wait, at_deadline=at_deadline)
        try:
            answer = self._client.post(self._path, body, wait=wait)
            check_answer("heartbeat", answer.document)
        except WireFault as fault:
            self._note_fault(fault)
            raise
        except FactoryError as error:
            raise Unreachable(error.code) from error
        self._learn(answer)
        return answer

    def enter(self, phase: Phase, reason: str | None = None) -> bool:
        """Repeat until the phase is accepted; False if the attempt is to be stopped instead."""
        backoff = Backoff()
        while not self._stop.is_set():
            try:
                self.beat(phase, reason=reason)
            except Unreachable:
                pause = backoff.next()
            except WireFault as fault:
                pause = self._pause_after(fault, backoff)
            else:
                return not self._stop.is_set()
            if elapsed() >= self.lease_over:
                self._stop.because(StopReason.LEASE_OVER)
                return False
            woken = threading.Event()
            self._stop.subscribe(woken.set)
            woken.wait(pause)
        return False

    def fence(self) -> bool:
        """Whether a write outside is allowed now: a heartbeat was answered 200 without cancel."""
        if self._stop.is_set():
            return False
        try:
            self.beat()
        except (Unreachable, WireFault):
            return False
        return self.cancel_reason is None and not self._stop.is_set()

    def ask_deadline(self) -> bool:
        """Ask before the kill: True if the agent's time was extended. Without an answer it ends."""
        try:
            self.beat(at_deadline=True)
        except (Unreachable, WireFault):
            return False
        return self.agent_deadline is not None and self.agent_deadline > elapsed() and not self.deadline_recorded

    def take_usage(self, usage: Usage) -> None:
        """Running totals, sent with the next heartbeat."""
        with self._lock:
            self.usage = self.usage.grown(usage)

    def over_budget(self) -> bool:
        """Whether the reported usage passed what the run may still spend."""
        usd, tokens = self.budget.get("usd"), self.budget.get("tokens")
        cost = self.usage.cost_usd
        return (usd is not None and cost is not None and cost > usd) or (
            tokens is not None and self.usage.tokens() > tokens
        )

    def _body(self, sequence: int, wait: float, *, at_deadline: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "attempt": self._claimed.number,
            "fencingToken": self._claimed.token,
            "sequence": sequence,
            "phase": str(self._phase),
            "usage": self.usage.document(),
        }
        if wait:
            body["waitSeconds"] = wait
        if at_deadline:
            body["atDeadline"] = True
        if self._is_draining():
            body["draining"] = True
        if self._phase is Phase.VERIFYING and self._verify_reason:
            body["reasonCode"] = self._verify_reason
        return body

    def _learn(self, answer: Answer) -> None:
        document = answer.document
        with self._lock:
            self.lease_over = answer.instant(document["leaseExpiresAt"]) or self.lease_over
            self.due = max(self.due, answer.instant(document["heartbeatDueAt"]) or self.due)
            self.agent_deadline = answer.instant(document.get("agentDeadlineAt")) or self.agent_deadline
            self.deadline_recorded = self.deadline_recorded or bool(document.get("deadlineRecorded"))
            if document.get("budgetLeft") is not None:
                self.budget = document["budgetLeft"]
        if document["cancel"]["requested"]:
            self.cancel_reason = document["cancel"].get("reason") or "cancelled"
            self._stop.because(StopReason.CANCELLED)

    def _note_fault(self, fault: WireFault) -> None:
        if fault.reaction in {Reaction.ABANDON, Reaction.GIVE_UP}:
            self._stop.because(StopReason.FENCED)
        elif fault.reaction is Reaction.REPORT_FAULT:
            log.error("event=heartbeat_fault attempt=%s code=%s", self._claimed.name, fault.code)
            self._stop.because(StopReason.FAULT)

    def _pause_after(self, fault: WireFault, backoff: Backoff) -> float:
        if fault.reaction is Reaction.STOP_CLAIMING:
            self._client.credentials.reread(force=True)
            if elapsed() >= self.due:
                self._stop.because(StopReason.CREDENTIAL)
            return CREDENTIAL_PAUSE
        return backoff.next(fault.retry_after)

    def _run(self) -> None:
        every = self._claimed.heartbeat_seconds
        wait = min(HEARTBEAT_WAIT, every * 0.9)
        backoff = Backoff()
        self._ended.wait(min(FIRST_HOLD, every))
        while not self._ended.is_set():
            begun = elapsed()
            before = self._sequence
            try:
                self.beat(wait=0.0 if self._stop.is_set() else round(wait, 3))
                backoff.reset()
                # A newer heartbeat of another thread ended the hold: hold again, so that a cancel still arrives.
                overtaken = self._sequence > before + 1
                held = elapsed() - begun >= wait * HELD_SHARE
                pause = SHORTEST_GAP if overtaken or held else max(SHORTEST_GAP, begun + every - elapsed())
            except Unreachable:
                pause = min(backoff.next(), every)
            except WireFault as fault:
                if fault.reaction in {Reaction.ABANDON, Reaction.GIVE_UP, Reaction.REPORT_FAULT}:
                    return
                pause = min(self._pause_after(fault, backoff), every)
            if elapsed() >= self.lease_over:
                self._stop.because(StopReason.LEASE_OVER)
            self._ended.wait(pause)


def last_words(heartbeats: Heartbeats) -> None:
    """After a cancel: say that nothing is alive any more, with the final usage. Best effort."""
    with contextlib.suppress(Unreachable, WireFault):
        heartbeats.beat(Phase.STOPPED)
