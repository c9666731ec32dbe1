"""The one terminal submission of an attempt, as it goes into the spool."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.contract.canonical import HASH_PREFIX, document_hash
from runs.contract.codes import TerminalState
from runs.contract.results import merge_evidence
from runs.contract.wire import RESULT_VERSION
from workers.host.adapters.contract import Usage
from workers.host.attempt.claimed import Claimed
from workers.host.attempt.verdict import Verdict
from workers.host.disk.spool import SpooledFile

TEXT = "text/plain; charset=utf-8"
BINARY = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Execution:
    """How the agent ran."""

    adapter: str
    model: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    late: bool = False
    milliseconds: int = 0
    usage: Usage | None = None

    def document(self) -> dict[str, Any]:
        """The form on the wire."""
        return {
            "adapter": self.adapter,
            "model": self.model,
            "exitCode": self.exit_code,
            "signal": self.signal,
            "timedOut": self.timed_out,
            "late": self.late,
            "durationMs": self.milliseconds,
            "usage": (self.usage or Usage()).document(),
        }


def spooled_file(kind: str, name: str, path: Path, media_type: str = TEXT) -> SpooledFile:
    """A file with its ref, hashed as it is now."""
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    ref = {"kind": kind, "name": name[:255], "sha256": HASH_PREFIX + digest, "sizeBytes": path.stat().st_size}
    return SpooledFile(ref=ref, source=path, media_type=media_type)


def log_files(folder: Path) -> list[SpooledFile]:
    """Transcript, console and verify logs of an attempt, as far as they hold anything."""
    found: list[SpooledFile] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.stat().st_size:
            if path.name == "transcript.jsonl":
                found.append(spooled_file("transcript", path.name, path, "application/x-ndjson"))
            elif path.name == "console.log":
                found.append(spooled_file("console", path.name, path))
            elif path.name.startswith("verify-"):
                found.append(spooled_file("verify_log", path.name, path))
    return found


def within_limits(claimed: Claimed, files: Iterable[SpooledFile]) -> list[SpooledFile]:
    """The files that the spec's artifact limits admit, in their order."""
    limits = claimed.value("artifactLimits")
    kept: list[SpooledFile] = []
    total = 0
    for file in files:
        size = file.ref["sizeBytes"]
        if len(kept) < limits["count"] and size <= limits["bytesEach"] and total + size <= limits["bytesTotal"]:
            kept.append(file)
            total += size
    return kept


def submission(claimed: Claimed, verdict: Verdict, execution: Execution, refs: list[Mapping[str, Any]],
               workspace: Mapping[str, Any] | None) -> dict[str, Any]:  # fmt: skip
    """The body of the result request."""
    body: dict[str, Any] = {
        "attempt": claimed.number,
        "fencingToken": claimed.token,
        "terminalState": str(verdict.state),
        "reasonCode": verdict.reason,
        "artifactRefs": [dict(ref) for ref in refs],
        "execution": execution.document(),
        "retryAt": verdict.retry_at,
    }
    if verdict.detail:
        body["detail"] = dict(verdict.detail)
    if verdict.state in {TerminalState.COMPLETED, TerminalState.REFUSED}:
        body["result"] = _result(claimed, verdict, refs, workspace)
        if verdict.reason != "agent_definition_mismatch":
            body |= {"specHash": claimed.spec_hash, "defHash": claimed.spec.get("defHash")}
    return body


def _result(claimed: Claimed, verdict: Verdict, refs: list[Mapping[str, Any]],
            workspace: Mapping[str, Any] | None) -> dict[str, Any]:  # fmt: skip
    given = verdict.result
    completed = verdict.state is TerminalState.COMPLETED
    artifact = verdict.artifact if completed else given.artifact if given else None  # a refusal may carry its summary
    evidence = merge_evidence(given.evidence if given else None, workspace)
    result: dict[str, Any] = {
        "schemaVersion": RESULT_VERSION,
        "runId": claimed.run_id,
        "attempt": claimed.number,
        "terminalState": str(verdict.state),
        "reasonCode": verdict.reason,
        "outputContract": str(claimed.spec.get("outputContract", "")),
        "artifact": artifact,
        "artifactHash": document_hash(artifact) if completed or artifact is not None else None,
        "evidence": evidence,
        "evidenceHash": document_hash(evidence) if evidence is not None else None,
        "verification": {"status": verdict.status, "checks": list(verdict.checks)},
        "artifacts": [dict(ref) for ref in refs],
    }
    if given is not None:
        if given.decision is not None:
            result["decision"] = dict(given.decision)
        if given.learnings:
            result["learnings"] = list(given.learnings)
        if given.used_memos:
            result["usedMemos"] = list(given.used_memos)
    return result
