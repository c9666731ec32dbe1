"""The checks of an agent's result that a worker makes before it publishes."""

import mimetypes
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import LENIENT_CHECKS, TerminalState
from runs.contract.redactor import Redactor
from runs.contract.results import (
    LARGEST_RESULT,
    AgentResult,
    ContractViolation,
    check_artifact,
    read_result,
    result_text,
)
from workers.host.adapters.contract import Outcome
from workers.host.attempt.claimed import Claimed
from workers.host.attempt.verdict import Verdict, failed
from workers.host.disk.documents import InputUnavailable
from workers.host.disk.files import make_private
from workers.host.process.launcher import Exit
from workers.host.process.streams import readable
from workers.host.workspace.evidence import Observation
from workers.host.workspace.inputs import safe_relative

VERIFY_PREFIX = "verify-"
RunVerify = Callable[[Sequence[str], str, float], Exit]


@dataclass(frozen=True, slots=True)
class DeclaredFile:
    """A file that the agent declared, checked; text was redacted in place."""

    kind: str
    name: str
    path: Path
    media_type: str


def read_given(result_file: Path, outcome: Outcome) -> bytes | None:
    """What was given on the first channel that has something; a link or anything but a file is nothing."""
    content = outcome.given if outcome.given is not None else _regular_file(result_file)
    found = result_text(content, outcome.final_text)
    if found is None and outcome.derived is not None and outcome.exit_code == 0:
        return canonical_bytes(outcome.derived)
    return found


def form_result(claimed: Claimed, given: bytes | None, redactor: Redactor) -> AgentResult:
    """The form checks, with every text of the document redacted; ``ContractViolation`` names the check."""
    read = read_result(given, nonce=claimed.nonce)
    clean = redactor.redact_document
    return replace(
        read,
        artifact=clean(read.artifact),
        evidence=clean(read.evidence),
        decision=clean(read.decision),
        learnings=tuple(clean(list(read.learnings))),
        used_memos=tuple(clean(list(read.used_memos))),
    )


def judge(
    claimed: Claimed, given: bytes | None, redactor: Redactor, output_schema: Mapping[str, Any] | None
) -> Verdict:
    """Checks 1 to 6, with what a lenient policy makes of their failure."""
    try:
        read = form_result(claimed, given, redactor)
        check_artifact(read, output_schema)
    except ContractViolation as error:
        if claimed.value("resultPolicy") == "lenient" and error.check in LENIENT_CHECKS:
            detail = {"check": error.check, "message": error.message}
            return Verdict(state=TerminalState.COMPLETED, reason="result_defaulted", artifact={}, status="defaulted",
                           checks=("form",), detail=detail)  # fmt: skip
        raise
    if read.terminal_state is TerminalState.REFUSED:
        return Verdict(state=TerminalState.REFUSED, reason=read.reason_code, result=read, status="refused",
                       checks=("form",))  # fmt: skip
    checks = ("form", "output_schema") if output_schema is not None else ("form",)
    return Verdict(state=TerminalState.COMPLETED, reason="ok", result=read, artifact=read.artifact, checks=checks)


def check_git_change(claimed: Claimed, observation: Observation | None) -> bool:
    """Pass the change that the workspace expects; False if none is expected."""
    expects = claimed.workspace.get("expects", "none")
    if observation is None or expects == "none":
        return False
    lacks = observation.lacks(expects)
    if lacks is not None:
        raise ContractViolation("git_change", lacks, expects=expects)
    return True


def declared_files(claimed: Claimed, declared: Sequence[Mapping[str, Any]], work: Path, redactor: Redactor,
                   scratch: Path) -> list[DeclaredFile]:  # fmt: skip
    """Check 7: every declared file lies inside the workspace, is a file, fits, and holds no secret."""
    limits = claimed.value("artifactLimits")
    if len(declared) > limits["count"]:
        raise ContractViolation("artifact_limit", f"{len(declared)} artifacts; {limits['count']} are allowed")
    files: list[DeclaredFile] = []
    total = 0
    for number, item in enumerate(declared):
        path = _inside(work, str(item["path"]))
        size = path.stat().st_size
        total += size
        if size > limits["bytesEach"] or total > limits["bytesTotal"]:
            raise ContractViolation("artifact_limit", f"{item['path']} has {size} bytes", path=str(item["path"]))
        content, is_text = _redacted(path.read_bytes(), redactor, str(item["path"]))
        copy = make_private(scratch) / f"declared-{number}"
        copy.write_bytes(content)
        guessed = mimetypes.guess_type(path.name)[0] or ("text/plain" if is_text else "application/octet-stream")
        files.append(DeclaredFile(str(item.get("kind", "file")), str(item.get("name", item["path"])), copy, guessed))
    return files


def run_verify(claimed: Claimed, run: RunVerify, baseline: Mapping[str, bool]) -> Verdict | None:
    """Check 9: every verify command passes; a red one that was red before the agent is the baseline's fault."""
    for command in claimed.spec.get("verify", ()):
        name = command["name"]
        ended = run(command["argv"], f"{VERIFY_PREFIX}{name}.log", float(command["timeoutSeconds"]))
        if ended.exit_code == 0:
            continue
        tail = readable(ended.stdout_tail + ended.stderr_tail)
        code = "baseline_red" if baseline.get(name) is False else "verification_failed"
        return failed(code, command=name, exitCode=ended.exit_code, signal=ended.signal, tail=tail)
    return None


def run_baseline(claimed: Claimed, run: RunVerify) -> dict[str, bool]:
    """Which verify commands that ask for it were green before the agent began."""
    wanted = [command for command in claimed.spec.get("verify", ()) if command.get("baseline")]
    return {
        command["name"]: run(
            command["argv"], f"{VERIFY_PREFIX}{command['name']}.before.log", float(command["timeoutSeconds"])
        ).exit_code
        == 0
        for command in wanted
    }


def _regular_file(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)  # a folder cannot even be made a file object
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(LARGEST_RESULT + 1)


def _inside(work: Path, text: str) -> Path:
    try:
        relative = safe_relative(text)
    except InputUnavailable as error:
        raise ContractViolation("artifact_path_escape", str(error), path=text) from error
    path = work
    for part in relative.parts:
        path = path / part
        if path.is_symlink():
            raise ContractViolation("artifact_path_escape", f"{text} leads through a link", path=text)
    if not path.is_file():
        raise ContractViolation("artifact_missing", f"{text} is not a regular file", path=text)
    return path


def _redacted(content: bytes, redactor: Redactor, name: str) -> tuple[bytes, bool]:
    if b"\0" not in content:
        try:
            return redactor.redact(content.decode("utf-8")).encode("utf-8"), True
        except UnicodeDecodeError:
            pass
    if redactor.holds_secret(content):
        raise ContractViolation("artifact_secret", f"{name} contains a secret of the worker", path=name)
    return content, False
