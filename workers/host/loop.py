"""The loop of one worker. Its top is the only safe point: nothing is leased, no agent exists, nothing is unsent."""

import logging
import os
import socket
import threading
import uuid
from datetime import UTC, datetime
from functools import partial
from typing import Any

from runs.contract.codes import Reaction, TerminalState
from runs.contract.errors import FactoryError
from runs.contract.instants import format_instant, parse_instant
from runs.contract.stamp import code_stamp
from runs.contract.wire import check_answer
from workers.host.attempt.claimed import Claimed, read_claim
from workers.host.attempt.record import clean_up, kept_workspaces
from workers.host.attempt.recovery import recover
from workers.host.attempt.run import AttemptRun
from workers.host.attempt.submission import Execution
from workers.host.client import CREDENTIAL_PAUSE, Answer, Backoff, Unreachable, WireFault, elapsed
from workers.host.disk.files import write_whole
from workers.host.disk.spool import Sender, pending, spool
from workers.host.host import Host
from workers.host.offer import Offering
from workers.host.pool.run_folder import RunFolder
from workers.host.signals import EXIT_DRAINED, EXIT_SECOND_SIGNAL
from workers.host.vigil import Vigil

EXIT_RELOAD = 75
LOOK_SECONDS = 0.25  # between two looks at drain file and signals while a claim waits
STAMP_SECONDS = 5.0  # between two looks at the code on disk
COMPLAINT_SECONDS = 60.0  # between two log lines about the same refusal
HAND_BACK_SECONDS = 2.0  # to learn whether a claim that was cut short had leased a run
BUSY_PAUSE = 1.0
HELD_PAUSE = 5.0

log = logging.getLogger(__name__)


class Leave(Exception):
    """The worker leaves: reason of its bye, and exit code."""

    def __init__(self, reason: str, code: int) -> None:
        """``reason`` is one of the reasons of a bye."""
        super().__init__(reason)
        self.reason = reason
        self.code = code


class Worker:
    """One boot, from its first hello to its bye."""

    def __init__(self, host: Host) -> None:
        """Nothing is sent yet."""
        self.host = host
        self.offering = Offering(host)
        self.max_wait = 0.0
        self._told: dict[str, Any] | None = None
        self._blocked: str | None = None
        self._stamp_at = elapsed()
        self._outdated = False
        self._complained: dict[str, float] = {}

    def run(self) -> int:
        """The exit code. Every way out but a crash says bye."""
        vigil = Vigil(self._tell_survivors)
        try:
            recover(self.host)
            clean_up(self.host.home)
            self._hello()
            failures = Backoff()
            while True:
                try:
                    self._turn()
                    failures.reset()
                except Leave:
                    raise
                except Exception:
                    log.exception("event=turn_failed")
                    self.host.signals.pause(failures.next(1.0))
        except Leave as leave:
            vigil.close()  # a greeting after the bye would undo it
            self._bye(leave.reason)
            self.host.boot.close()
            return leave.code

    def _turn(self) -> None:
        """From one safe point to the next: what is unsent first, then one run, if there is one."""
        self._safe_point()
        self._send_pending()
        self._greet_again()
        begun = elapsed()
        answer = self._claim()
        if answer is not None:
            self._attempt(answer, waited=elapsed() - begun)

    def _safe_point(self) -> None:
        signals, options = self.host.signals, self.host.options
        if signals.count > 1:
            raise Leave("stopped", EXIT_SECOND_SIGNAL)
        if signals.count:
            raise Leave("stopped", EXIT_DRAINED)
        if self.host.drain_requested():
            raise Leave("drained", EXIT_DRAINED)
        if options.max_runs is not None and self.host.attempts >= options.max_runs:
            raise Leave("max_runs", EXIT_DRAINED)
        if self._code_changed():
            raise Leave("reload", EXIT_RELOAD)

    def _code_changed(self) -> bool:
        if not self._outdated and elapsed() - self._stamp_at >= STAMP_SECONDS:
            self._stamp_at = elapsed()
            self._outdated = code_stamp() != self.host.version
            if self._outdated:
                log.info("event=code_changed")
        return self._outdated

    def _hello(self) -> None:
        """Register until it is accepted. Raises ``Leave`` on a signal."""
        backoff = Backoff()
        while True:
            self._safe_point()
            news, body = self._news(), self._hello_body()
            try:
                answer = self.host.client.post("/worker/v1/hello", body)
                check_answer("hello", answer.document)
            except Unreachable as error:
                self._complain("unreachable", f"event=unreachable url={self.host.client.url} error={error}")
                self.host.signals.pause(backoff.next())
                continue
            except WireFault as fault:
                self._refused(fault, backoff)
                continue
            except FactoryError as error:
                self._complain("malformed", f"event=malformed_answer error={error.message}")
                self.host.signals.pause(backoff.next())
                continue
            self._told = news
            self._greeted(answer, body)
            return

    def _tell_survivors(self) -> bool:
        """Say what survives SIGKILL; whether it was heard. For the thread that speaks while this one waits."""
        try:
            self.host.client.post("/worker/v1/hello", self._hello_body())
        except Unreachable:
            return False
        except WireFault as fault:
            self._narrowed(fault)
            return False
        return True

    def _greeted(self, answer: Answer, body: dict[str, Any]) -> None:
        document = answer.document
        self.max_wait = float(document["maxWaitSeconds"])
        git = document.get("git")
        if git:
            self.host.author = (git["name"], git["email"])
        self.host.skew = parse_instant(document["serverTime"]) - datetime.now(UTC)
        settings = self.host.settings
        if settings.run_dir is not None and settings.slot is not None:
            write_whole(RunFolder(settings.run_dir).id_file(settings.slot), self.host.client.worker_id.encode())
        log.info("event=hello adapters=%s any=%s kinds=%s isolation=none version=%s", ",".join(body["adapters"]),
                 body["anyAdapter"], ",".join(body["workspaceKinds"]), self.host.version)  # fmt: skip

    def _hello_body(self) -> dict[str, Any]:
        settings = self.host.settings
        return {
            **self.offering.claim(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "pool": settings.pool,
            "slot": settings.slot,
            "quarantined": self.offering.quarantined(),
            "blockedReason": self._blocked or self.offering.blocked(),
            "health": self.offering.health(),
            "time": format_instant(datetime.now(UTC)),
        }

    def _greet_again(self) -> None:
        if self._news() != self._told:
            self._hello()

    def _news(self) -> dict[str, Any]:
        """What makes a worker greet again when it changes; sizes, which change all the time, do not."""
        return {
            **self.offering.claim(),
            "blockedReason": self._blocked or self.offering.blocked(),
            "quarantined": self.offering.quarantined(),
            "kept": len(kept_workspaces(self.host.home)),
        }

    def _send_pending(self) -> None:
        """Send what earlier attempts and dead boots left; blocked until nothing is left."""
        sender = Sender(self.host.client, self.host.home, self._pause_or_leave)
        for entry in list(pending(self.host.boot.folder)):
            try:
                sender.send(entry)
            except (Unreachable, WireFault) as error:
                log.warning("event=outbox_pending attempt=%s error=%s", entry.name, error)
                self._safe_point()

    def _pause_or_leave(self, seconds: float) -> bool:
        return self.host.signals.pause(seconds)

    def _claim(self) -> Answer | None:
        """The answer that carries a run, None after an empty one. Raises ``Leave`` instead of waiting on."""
        if self.offering.blocked() is not None:
            self.host.signals.pause(HELD_PAUSE)
            return None
        key = str(uuid.uuid4())
        backoff = Backoff()
        while True:
            self._safe_point()
            waiting = _Waiting(self.host, key, {**self.offering.claim(), "waitSeconds": self.max_wait}, self.max_wait)
            while not waiting.done.wait(LOOK_SECONDS):
                if self.host.draining():
                    self._cut_short(key)
            try:
                answer = waiting.result()
                check_answer("claim", answer.document)
            except Unreachable as error:
                self._complain("unreachable", f"event=unreachable url={self.host.client.url} error={error}")
                self.host.signals.pause(backoff.next())
                continue
            except WireFault as fault:
                if fault.reaction is Reaction.RETRY:
                    self.host.signals.pause(backoff.next(fault.retry_after))
                    continue
                self._refused(fault, backoff)
                return None
            if answer.document["claim"] is not None:
                return answer
            self.host.told_to_leave = answer.document.get("reason") == "draining"
            self._safe_point()
            pause = answer.document.get("retryAfterMs", 0) / 1000
            self.host.signals.pause(max(pause, self.host.options.poll_seconds) if pause or not self.max_wait else 0)
            return None

    def _cut_short(self, key: str) -> None:
        """End a waiting claim by repeating its key without a wait; a run that still arrives is handed back."""
        body = {**self.offering.claim(), "waitSeconds": 0}
        until = elapsed() + HAND_BACK_SECONDS
        backoff = Backoff()
        while elapsed() < until:
            try:
                answer = self.host.client.post("/worker/v1/claim", body, key=key)
            except Unreachable:
                threading.Event().wait(backoff.next())
                continue
            except WireFault:
                break
            claim = answer.document.get("claim")
            if claim is not None:
                self._hand_back(read_claim(claim))
            break
        self._safe_point()

    def _hand_back(self, claimed: Claimed) -> None:
        body = _failure(claimed, "drain_timeout", "the worker was asked to leave before it began")
        entry = spool(self.host.boot.folder / "outbox", worker_id=self.host.client.worker_id, run_id=claimed.run_id,
                      body=body, files=())  # fmt: skip
        log.info("event=handed_back run=%s attempt=%d", claimed.run_id, claimed.number)
        try:
            Sender(self.host.client, self.host.home, self.host.signals.pause_sending).send(entry)
        except (Unreachable, WireFault):
            log.warning("event=left_in_spool attempt=%s", claimed.name)

    def _attempt(self, answer: Answer, *, waited: float) -> None:
        claimed = read_claim(answer.document["claim"])
        log.info("run=%s attempt=%d event=claimed agent=%s adapter=%s wait_ms=%.0f", claimed.run_id, claimed.number,
                 claimed.spec.get("agent"), claimed.adapter, waited * 1000)  # fmt: skip
        self.host.attempts += 1
        try:
            AttemptRun(self.host, claimed, answer).run()
        except Exception:
            log.exception("event=attempt_crashed attempt=%s", claimed.name)
            body = _failure(claimed, "adapter_error", "the worker failed while it executed this attempt")
            spool(self.host.boot.folder / "outbox", worker_id=self.host.client.worker_id, run_id=claimed.run_id,
                  body=body, files=())  # fmt: skip
            self.host.boot.release()
            self.host.signals.pause(1.0)
        clean_up(self.host.home)

    def _refused(self, fault: WireFault, backoff: Backoff) -> None:
        """What a refused hello or claim means for this worker; pauses as long as it should."""
        signals = self.host.signals
        if self._narrowed(fault):
            self._told = None
        elif fault.reaction is Reaction.STOP_CLAIMING:
            self._told = None
            signals.pause(CREDENTIAL_PAUSE)
            self.host.client.credentials.reread(force=True)
        elif fault.reaction is Reaction.WAIT_BUSY:
            self._complain(fault.code, f"event=worker_busy message={str(fault)!r}")
            signals.pause(BUSY_PAUSE)
        elif fault.reaction is Reaction.OUTDATED:
            self._complain(fault.code, f"event=worker_outdated message={str(fault)!r}")
            self._stamp_at = 0.0
            self._safe_point()
            self._blocked = "worker_outdated"
            signals.pause(HELD_PAUSE)
        elif fault.reaction is Reaction.RETRY:
            signals.pause(backoff.next(fault.retry_after))
        else:
            self._complain(fault.code, f"event=not_allowed code={fault.code} message={str(fault)!r}")
            self._told = None
            signals.pause(HELD_PAUSE)

    def _narrowed(self, fault: WireFault) -> bool:
        """Whether less is offered from now on, because the credential does not allow what was."""
        if fault.code != "capability_escalation" or not self.offering.narrow(fault):
            return False
        log.info("event=offer_narrowed without=%s", ",".join(sorted(self.offering.narrowed)))
        return True

    def _complain(self, topic: str, line: str) -> None:
        last = self._complained.get(topic)
        if last is None or elapsed() - last >= COMPLAINT_SECONDS:
            self._complained[topic] = elapsed()
            log.warning("%s", line)

    def _bye(self, reason: str) -> None:
        log.info("event=bye reason=%s", reason)
        try:
            self.host.client.post("/worker/v1/bye", {"reason": reason})
        except (Unreachable, WireFault) as error:
            log.info("event=bye_unheard error=%s", error)


class _Waiting:
    """A claim that waits for its answer in a thread of its own."""

    def __init__(self, host: Host, key: str, body: dict[str, Any], wait: float) -> None:
        self.done = threading.Event()
        self._answer: Answer | None = None
        self._error: Exception | None = None
        self._post = partial(host.client.post, "/worker/v1/claim", body, key=key, wait=wait)
        threading.Thread(target=self._run, name="claim", daemon=True).start()

    def result(self) -> Answer:
        """The answer, or the error of the request."""
        if self._answer is None:
            raise self._error or Unreachable("no answer")
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = self._post()
        except Exception as error:  # noqa: BLE001 -- raised again by result()
            self._error = error
        finally:
            self.done.set()


def _failure(claimed: Claimed, code: str, message: str) -> dict[str, Any]:
    return {
        "attempt": claimed.number,
        "fencingToken": claimed.token,
        "terminalState": str(TerminalState.FAILED),
        "reasonCode": code,
        "detail": {"message": message},
        "retryAt": None,
        "artifactRefs": [],
        "execution": Execution(adapter=claimed.adapter).document(),
    }
