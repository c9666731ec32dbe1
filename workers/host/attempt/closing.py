"""The end of an attempt: unpushed work is saved, the outcome is spooled and sent, the workspace goes."""

import logging
import uuid
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runs.contract.codes import Phase
from workers.host.adapters.contract import Paths
from workers.host.attempt.claimed import Claimed
from workers.host.attempt.heartbeats import last_words
from workers.host.attempt.prepare import worker_git
from workers.host.attempt.record import keep_workspace
from workers.host.attempt.stop import PUBLISHES_NOTHING, StopReason
from workers.host.attempt.submission import BINARY, log_files, spooled_file, submission, within_limits
from workers.host.attempt.verdict import Verdict
from workers.host.client import Unreachable, WireFault
from workers.host.disk.boots import ACCEPTED
from workers.host.disk.files import copy_in, make_private, remove_tree, write_json
from workers.host.disk.spool import Sender, SpooledFile, quarantine, spool, upload_file
from workers.host.workspace.checkout import Checkout
from workers.host.workspace.credentials import Fence
from workers.host.workspace.evidence import CheckoutDamaged, Observation, make_safe, observe
from workers.host.workspace.git import Git, GitFailed
from workers.host.workspace.salvage import Salvage, push_aside, save_unpushed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workers.host.attempt.run import AttemptRun

log = logging.getLogger(__name__)


class WorkNotSaved(Exception):
    """Unpushed work could not be bundled: the workspace has to stay."""


def observe_checkout(run: "AttemptRun") -> Observation | None:
    """What the worker sees of a ``worktree`` now; None for other kinds."""
    checkout = run.prepared.checkout if run.prepared else None
    if checkout is None or run.paths is None:
        return None
    try:
        make_safe(checkout)
        with _git(run, run.paths, checkout) as git:
            return observe(checkout, git)
    except (CheckoutDamaged, GitFailed, OSError) as error:
        log.warning("event=checkout_unreadable attempt=%s error=%s", run.claimed.name, type(error).__name__)
        return Observation(branch=checkout.spec.branch, base_sha=checkout.base_sha, head_sha=None, remote_sha=None,
                           clean=False, commits=None)  # fmt: skip


def close_attempt(run: "AttemptRun", verdict: Verdict | None) -> None:
    """Bring the attempt to rest on this machine and on the server. The agent is dead."""
    keep = verdict is not None and verdict.keep and _retains(run.claimed)
    salvage, only_copy = None, False
    try:
        salvage = _save(run)
    except WorkNotSaved:
        only_copy = True
    if verdict is None:
        _end_unpublished(run, salvage)
    elif not _publish(run, verdict, salvage):
        return
    _clear(run, keep=keep, only_copy=only_copy)
    run.host.boot.release()


def save_checkout(checkout: Checkout, git: Git, folder: Path, name: str) -> Salvage | None:
    """The saved work of a checkout, None if there is none; ``WorkNotSaved`` if it could not be saved."""
    try:
        make_safe(checkout)
        return save_unpushed(checkout, git, folder, name)
    except (CheckoutDamaged, GitFailed, OSError) as error:
        log.error("event=work_not_saved attempt=%s error=%s", name, error)  # noqa: TRY400 -- no stack for people
        raise WorkNotSaved(str(error)) from error


def salvage_files(salvage: Salvage, folder: Path, redact: Any) -> list[SpooledFile]:
    """Bundle and patch as artifacts."""
    files = [spooled_file("bundle", "work.bundle", salvage.bundle, BINARY)]
    if salvage.patch is not None:
        patch = make_private(folder) / "work.patch"
        patch.write_text(redact(salvage.patch), encoding="utf-8", errors="replace")
        files.append(spooled_file("patch", patch.name, patch))
    return files


def _git(
    run: "AttemptRun", paths: Paths, checkout: Checkout, fence: Fence | None = None
) -> AbstractContextManager[Git]:
    repositories = run.claimed.repositories
    return worker_git(
        run.host, checkout.folder, repositories=repositories, sockets=paths.run, redactor=run.redactor, fence=fence
    )


def _save(run: "AttemptRun") -> Salvage | None:
    checkout = run.prepared.checkout if run.prepared else None
    if checkout is None or run.paths is None:
        return None
    with _git(run, run.paths, checkout) as git:
        return save_checkout(checkout, git, run.host.home / "salvage", run.claimed.name)


def _files(run: "AttemptRun", salvage: Salvage | None) -> list[SpooledFile]:
    if run.paths is None:
        return []
    files = log_files(run.paths.log)
    if run.captured is not None:
        kind, name = run.captured
        captured = run.paths.log / name
        if captured.exists():
            files.append(spooled_file(kind, name, captured))
    files += [spooled_file(item.kind, item.name, item.path, item.media_type) for item in run.declared]
    if salvage is not None:
        files = [*salvage_files(salvage, run.paths.log, run.redactor.redact), *files]
    return within_limits(run.claimed, files)


def _publish(run: "AttemptRun", verdict: Verdict, salvage: Salvage | None) -> bool:
    """Spool and send; False when the worker has to leave first and the entry waits for the next boot."""
    files = _files(run, salvage)
    refs: list[Mapping[str, Any]] = [file.ref for file in files]
    stored = salvage is not None and any(ref["kind"] == "bundle" for ref in refs)
    if salvage is not None and not stored:
        stored = _push_aside(run)
    workspace = (run.observation or observe_checkout(run)) if verdict.state in {"completed", "refused"} else None
    body = submission(run.claimed, verdict, run.execution, refs, workspace.document() if workspace else None)
    if rest := run.trace.close():
        body["trace"] = rest
    entry = spool(
        run.host.boot.folder / "outbox",
        worker_id=run.host.client.worker_id,
        run_id=run.claimed.run_id,
        body=body,
        files=files,
        salvage=str(salvage.bundle) if salvage is not None and stored else None,
    )
    if files:
        _say_publishing(run)
    if run.stop.reason is StopReason.FENCED:
        fault = WireFault("fenced", 409, "another attempt holds this run")
        quarantine(run.host.home / "quarantine", entry, fault)
        return True
    if run.stop.reason is StopReason.CANCELLED:
        remove_tree(entry.folder)
        _end_unpublished(run, salvage)
        return True
    sender = Sender(run.host.client, run.host.home, run.host.signals.pause_sending)
    try:
        accepted = sender.send(entry, accepted=lambda _: run.note(ACCEPTED))
    except (Unreachable, WireFault):
        log.warning("event=left_in_spool attempt=%s", run.claimed.name)
        return False
    if not accepted:
        _learn_of_cancel(run, salvage)
        return True
    log.info("event=published run=%s attempt=%d state=%s reason=%s ms=%d", run.claimed.run_id, run.claimed.number,
             verdict.state, verdict.reason, run.execution.milliseconds)  # fmt: skip
    return True


def _say_publishing(run: "AttemptRun") -> None:
    try:
        run.heartbeats.beat(Phase.PUBLISHING)
    except (Unreachable, WireFault) as error:
        log.info("event=publishing_unannounced attempt=%s error=%s", run.claimed.name, error)


def _learn_of_cancel(run: "AttemptRun", salvage: Salvage | None) -> None:
    """A refused outcome may mean that a cancel came in between: then what the agent used is still to be told."""
    _say_publishing(run)
    if run.stop.reason is StopReason.CANCELLED:
        _end_unpublished(run, salvage)


def _push_aside(run: "AttemptRun") -> bool:
    checkout = run.prepared.checkout if run.prepared else None
    if checkout is None or run.paths is None or not run.claimed.mutating or not run.host.config.push_refs:
        return False
    with _git(run, run.paths, checkout, run.heartbeats.fence) as git:
        return push_aside(git, run.claimed.run_id, run.claimed.number)


def _end_unpublished(run: "AttemptRun", salvage: Salvage | None) -> None:
    if run.stop.reason in PUBLISHES_NOTHING:
        _set_aside(run)
        return
    # Cancelled: what the agent left may still be stored for ten minutes, and its usage is charged.
    for file in _files(run, salvage):
        if file.ref["kind"] in {"bundle", "patch", "transcript"}:
            _upload_after_cancel(run, file, salvage)
    last_words(run.heartbeats)
    log.info("event=stopped run=%s attempt=%d reason=%s", run.claimed.run_id, run.claimed.number,
             run.heartbeats.cancel_reason)  # fmt: skip


def _upload_after_cancel(run: "AttemptRun", file: SpooledFile, salvage: Salvage | None) -> None:
    claimed = run.claimed
    try:
        upload_file(run.host.client, file.source, file.ref, run_id=claimed.run_id, attempt=claimed.number,
                    token=claimed.token, media_type=file.media_type)  # fmt: skip
    except (Unreachable, WireFault) as error:
        log.warning("event=not_stored attempt=%s kind=%s error=%s", claimed.name, file.ref["kind"], error)
        return
    if file.ref["kind"] == "bundle" and salvage is not None:
        salvage.bundle.unlink(missing_ok=True)


def _set_aside(run: "AttemptRun") -> None:
    folder = make_private(run.host.home / "quarantine") / f"{run.claimed.name}-{uuid.uuid4()}"
    make_private(folder)
    manifest = {"runId": run.claimed.run_id, "body": {"attempt": run.claimed.number, "terminalState": "not published"}}
    write_json(folder / "manifest.json", manifest, durable=True)
    reason = run.stop.reason
    write_json(folder / "answer.json", {"code": reason.name.lower() if reason else "", "http": 409})
    if run.paths is not None:
        if run.paths.result.is_file() and not run.paths.result.is_symlink():
            text = run.paths.result.read_text(encoding="utf-8", errors="replace")
            (folder / "result.json").write_text(run.redactor.redact(text), encoding="utf-8")
        for file in log_files(run.paths.log):
            copy_in(file.source, folder / str(file.ref["name"]))
    log.warning("event=abandoned run=%s attempt=%d reason=%s", run.claimed.run_id, run.claimed.number,
                reason.name.lower() if reason else "")  # fmt: skip


def _retains(claimed: Claimed) -> bool:
    return bool((claimed.definition.get("workspace") or {}).get("retainOnFailure"))


def _clear(run: "AttemptRun", *, keep: bool, only_copy: bool) -> None:
    root = run.host.home / "workspaces" / run.claimed.name
    if (keep or only_copy) and root.exists():
        keep_workspace(root, only_copy=only_copy)
    else:
        remove_tree(root)
