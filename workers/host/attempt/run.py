"""One attempt from claim to accepted outcome; whatever happens, its agent is dead before the outcome is told."""

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runs.contract.codes import Phase, TerminalState
from runs.contract.results import ContractViolation, check_evidence, check_memos, merge_evidence
from workers.host.adapters.contract import AdapterUnavailable, Outcome, Paths, Request, Usage
from workers.host.adapters.registry import GuardedAdapter
from workers.host.attempt.claimed import Claimed, verify_claim
from workers.host.attempt.closing import close_attempt, observe_checkout
from workers.host.attempt.heartbeats import Heartbeats
from workers.host.attempt.prepare import Prepared, agent_credentials, agent_environment, lay_out, make_paths, prepare
from workers.host.attempt.record import Record, write_record
from workers.host.attempt.stop import Stop, StopReason
from workers.host.attempt.submission import Execution
from workers.host.attempt.trace import TraceSender
from workers.host.attempt.verdict import Verdict, failed, of_exception, of_exit, stopped, violation
from workers.host.attempt.verification import (
    DeclaredFile,
    check_git_change,
    declared_files,
    judge,
    read_given,
    run_baseline,
    run_verify,
)
from workers.host.attempt.watch import Watch
from workers.host.client import Answer, elapsed
from workers.host.disk.boots import Holding
from workers.host.host import Host
from workers.host.process.identity import ProcessId
from workers.host.process.launcher import Exit, Launcher, SpawnFailed

if TYPE_CHECKING:
    from workers.host.workspace.evidence import Observation

COMMAND_NOT_FOUND = 127  # what a shell answers

log = logging.getLogger(__name__)


class Halted(Exception):
    """The attempt was stopped; the reason stands in the stop."""


@dataclass(frozen=True, slots=True)
class _Reporter:
    trace_sender: TraceSender
    heartbeats: Heartbeats

    def trace(self, kind: str, payload: Any) -> None:
        """One trace row."""
        self.trace_sender.row(kind, payload)

    def usage(self, usage: Usage) -> None:
        """Running totals."""
        if usage.is_sound():
            self.heartbeats.take_usage(usage)
            self.trace_sender.row("usage", usage.document())


class AttemptRun:
    """Executes one claimed run."""

    def __init__(self, host: Host, claimed: Claimed, answer: Answer) -> None:
        """``answer`` carried the claim."""
        self.host = host
        self.claimed = claimed
        self.stop = Stop()
        self.redactor = host.redactor(claimed.token)
        self.heartbeats = Heartbeats(host.client, claimed, answer, self.stop, host.draining)
        self.trace = TraceSender(host.client, claimed, self.redactor, host.skew)
        self.execution = Execution(adapter=claimed.adapter, model=claimed.model)
        self.paths: Paths | None = None
        self.prepared: Prepared | None = None
        self.observation: Observation | None = None
        self.declared: list[DeclaredFile] = []
        self.captured: tuple[str, str] | None = None
        self._watch: Watch | None = None
        self._phase = "leased"
        self._begun = elapsed()
        self._processes: dict[str, ProcessId] = {}
        self._baseline: dict[str, bool] = {}

    def run(self) -> None:
        """Everything; returns when the server has the outcome, refused it, or this worker has to leave."""
        self.note("leased")
        self.heartbeats.start()
        self._watch = Watch(self.host, self.heartbeats, self.stop)
        try:
            try:
                verdict = self._verdict()
            finally:
                self._watch.close()
            close_attempt(self, verdict)
        finally:
            self.trace.close(0)
            self.heartbeats.close()

    def note(self, phase: str) -> None:
        """Record the attempt in hand on disk."""
        self._phase = phase
        self.host.boot.hold(
            Holding(
                run_id=self.claimed.run_id,
                attempt=self.claimed.number,
                fencing_token=self.claimed.token,
                worker_id=self.host.client.worker_id,
                phase=phase,
                adapter=self.claimed.adapter,
                workspace=str(self.host.home / "workspaces" / self.claimed.name),
                leader=self._processes.get("leader"),
                agent=self._processes.get("agent"),
            ),
            durable=self.claimed.workspace["kind"] == "worktree",
        )

    def _verdict(self) -> Verdict | None:
        """The verdict, or None if this attempt may publish nothing."""
        try:
            verdict = self._work()
        except Halted:
            verdict = None
        except Exception as error:  # noqa: BLE001 -- whatever an adapter raises ends in a report, not in a dead worker
            log.warning("event=attempt_error attempt=%s error=%s", self.claimed.name, type(error).__name__)
            verdict = of_exception(error, self.claimed.adapter)
        reason = self.stop.reason
        if reason in {StopReason.FENCED, StopReason.LEASE_OVER, StopReason.CANCELLED}:
            return None
        if reason is not None and not (reason is StopReason.DEADLINE and verdict is not None):
            verdict = stopped(reason)
        if verdict is None:
            verdict = failed(
                "adapter_error", adapter=self.claimed.adapter, message="the attempt ended without a verdict"
            )
        detail = self.redactor.redact_document(verdict.detail)
        return replace(verdict, detail=detail)

    def _work(self) -> Verdict:
        adapter = self._adapter()
        output_schema = verify_claim(self.claimed, self.host.documents.document)
        adapter.check(self.claimed.definition, {**self.claimed.spec, "workspace": self.claimed.workspace})
        self.paths = make_paths(self.host, self.claimed)
        self.prepared = prepare(self.host, self.claimed, self.paths, self.stop)
        if self.prepared.checkout is not None:
            write_record(self.paths.root, Record(self.claimed.repositories, self.prepared.checkout))
        self._go_on()
        self._baseline = run_baseline(self.claimed, self._run_verify)
        outcome = self._run_agent(adapter, self.prepared)
        return self._after(outcome, output_schema, self.prepared)

    def _adapter(self) -> GuardedAdapter:
        if not self.host.registry.has(self.claimed.adapter):
            raise AdapterUnavailable("cli_missing", f"this worker has no adapter {self.claimed.adapter}")
        return self.host.registry.get(self.claimed.adapter)

    def _run_agent(self, adapter: GuardedAdapter, prepared: Prepared) -> Outcome:
        assert self._watch is not None  # noqa: S101 -- made before the work began
        self._begun = elapsed()
        with agent_credentials(self.host, self.claimed, prepared.paths, self.heartbeats.fence) as helper:
            request = Request(
                run_id=self.claimed.run_id,
                attempt=self.claimed.number,
                nonce=self.claimed.nonce,
                definition=self.claimed.definition,
                variables=self.claimed.value("input"),
                prompt=prepared.prompt,
                job=prepared.job,
                model=self.claimed.model,
                mutating=self.claimed.mutating,
                paths=prepared.paths,
                environment=agent_environment(self.host, self.claimed, prepared, helper),
                seconds=self.claimed.value("timeoutSeconds") - self.claimed.value("verifySeconds"),
                command=self.host.options.command,
                launch=self._launch_agent,
                report=_Reporter(self.trace, self.heartbeats),
            )
            self._watch.agent_runs = True
            try:
                outcome = adapter.execute(request)
            finally:
                self._watch.agent_runs = False
                self.execution = replace(self.execution, milliseconds=int((elapsed() - self._begun) * 1000))
        self.heartbeats.take_usage(outcome.usage)
        self.captured = outcome.captured
        self.execution = replace(
            self.execution,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            usage=self.heartbeats.usage,
            model=outcome.model or self.claimed.model,
        )
        self.trace.row("lifecycle", {"note": "exit", "exitCode": outcome.exit_code, "signal": outcome.signal})
        return outcome

    def _after(self, outcome: Outcome, output_schema: Any, prepared: Prepared) -> Verdict:
        late = self.stop.reason is StopReason.DEADLINE
        if late:
            self.execution = replace(self.execution, timed_out=True)
        elif self.stop.is_set():
            raise Halted
        else:
            ended = of_exit(outcome, self.claimed.adapter)
            if ended is not None:
                return ended
        given = read_given(prepared.paths.result, outcome)
        try:
            verdict = judge(self.claimed, given, self.redactor, output_schema)
        except ContractViolation as error:
            return self._timeout(error) if late else violation(error)
        if late and verdict.reason == "result_defaulted":
            return stopped(StopReason.DEADLINE)
        if late:
            # The deadline has done its work: verification has time of its own, and only the lease ends it.
            self.stop.forgive(StopReason.DEADLINE)
            self.execution = replace(self.execution, late=True)
        if late or prepared.checkout is not None or self.claimed.spec.get("verify"):
            # Elsewhere the checks are over in a moment: the result itself tells that the agent has ended.
            if not self.heartbeats.enter(Phase.VERIFYING, "late_completion" if late else "agent_exited"):
                raise Halted
            self.note("verifying")
        checked = self._checked(verdict, prepared)
        if late and checked.state is TerminalState.FAILED:
            return replace(failed("timeout", **checked.detail), late=True)
        return replace(checked, late=late)

    def _checked(self, verdict: Verdict, prepared: Prepared) -> Verdict:
        checks = list(verdict.checks)
        try:
            self.observation = observe_checkout(self)
            given = verdict.result
            if given is not None and given.artifacts:
                files = declared_files(self.claimed, given.artifacts, prepared.paths.work, self.redactor,
                                       prepared.paths.log)  # fmt: skip
                self.declared = files
                checks.append("paths")
            if verdict.state is TerminalState.COMPLETED and check_git_change(self.claimed, self.observation):
                checks.append("git_change")
            workspace = self.observation.document() if self.observation else None
            check_evidence(merge_evidence(given.evidence if given else None, workspace))
            check_memos(given.learnings if given else (), self.claimed.definition)
        except ContractViolation as error:
            return violation(error)
        if verdict.state is TerminalState.COMPLETED and verdict.reason == "ok" and self.claimed.spec.get("verify"):
            red = run_verify(self.claimed, self._run_verify, self._baseline)
            self._go_on()
            if red is not None:
                return red
            checks.append("verify")
        return replace(verdict, checks=(*checks, "evidence"))

    def _timeout(self, error: ContractViolation) -> Verdict:
        return failed("timeout", **{**error.details, "message": error.message})

    def _go_on(self) -> None:
        if self.stop.is_set():
            raise Halted

    def _launch_agent(self, argv: Sequence[str], **how: Any) -> Exit:
        """Start it once the server has heard that it will run; an adapter that starts nothing has nothing to say."""
        if not self.heartbeats.enter(Phase.RUNNING):
            raise Halted
        self.note("running")
        self._begun = elapsed()
        return self._launch(argv, **how)

    def _launch(self, argv: Sequence[str], **how: Any) -> Exit:
        assert self.prepared is not None  # noqa: S101 -- the workspace exists before anything is launched in it
        lay_out(self.prepared)
        launcher = Launcher(
            attempt=self.claimed.name,
            logs=self.prepared.paths.log,
            redactor=self.redactor,
            stop=self.stop,
            on_start=self._started,
        )
        return launcher.launch(argv, **how)

    def _started(self, minder: ProcessId, agent: ProcessId) -> None:
        self._processes = {"leader": minder, "agent": agent}
        self.note(self._phase)

    def _run_verify(self, argv: Sequence[str], log_name: str, seconds: float) -> Exit:
        assert self.prepared is not None  # noqa: S101 -- the workspace exists before it is verified
        environment = agent_environment(self.host, self.claimed, self.prepared, None)
        with contextlib.suppress(FileNotFoundError):
            (self.prepared.paths.log / log_name).unlink()
        try:
            return self._launch(
                argv,
                env=environment,
                cwd=self.prepared.paths.work,
                stdout_log=log_name,
                stderr_log=log_name,
                grace=0,
                seconds=seconds,
            )
        except SpawnFailed as error:
            return Exit(exit_code=COMMAND_NOT_FOUND, signal=None, stdout_tail="", stderr_tail=str(error))
