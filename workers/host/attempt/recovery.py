"""What a dead boot left behind: its agent is ended, its work saved, its outcome told, before anything is claimed."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runs.contract.codes import TerminalState
from runs.contract.ids import attempt_name
from workers.host.attempt.closing import WorkNotSaved, salvage_files, save_checkout
from workers.host.attempt.prepare import worker_git
from workers.host.attempt.record import keep_workspace, read_record
from workers.host.attempt.submission import Execution
from workers.host.disk.boots import Holding, adopt_dead, forget_holding, read_holding
from workers.host.disk.files import remove_tree
from workers.host.disk.spool import SpooledFile, pending, spool
from workers.host.host import Host
from workers.host.process.ending import Quarry, end_processes

log = logging.getLogger(__name__)


def recover(host: Host) -> None:
    """Adopt the dead boots of this home. Afterwards their outcomes are in this boot's spool, under their own ids."""
    for folder in adopt_dead(host.home, host.boot):
        holding = read_holding(folder)
        if holding is not None:
            _end_attempt(host, folder, holding)
            forget_holding(folder)


def _end_attempt(host: Host, folder: Path, holding: Holding) -> None:
    name = attempt_name(holding.run_id, holding.attempt)
    end_processes(
        Quarry(attempt=name, leader=holding.leader, agent=holding.agent, spare_leader=False),
        grace=0,
    )
    root = host.home / "workspaces" / name
    spooled = any(entry.name == name for entry in pending(folder))
    if spooled or holding.accepted:
        remove_tree(root)
        return
    files, bundle, only_copy = _save(host, root, name)
    body = _crashed(holding, [file.ref for file in files])
    spool(
        host.boot.folder / "outbox",
        worker_id=holding.worker_id,
        run_id=holding.run_id,
        body=body,
        files=files,
        salvage=str(bundle) if bundle is not None else None,
    )
    log.warning("event=worker_crashed attempt=%s worker=%s", name, holding.worker_id)
    if only_copy:
        keep_workspace(root, only_copy=True)
    else:
        remove_tree(root)


def _save(host: Host, root: Path, name: str) -> tuple[list[SpooledFile], Path | None, bool]:
    record = read_record(root)
    if record is None:
        return [], None, False
    redactor = host.redactor()
    try:
        with worker_git(
            host, record.checkout.folder, repositories=record.repositories, sockets=root / "run", redactor=redactor
        ) as git:
            salvage = save_checkout(record.checkout, git, host.home / "salvage", name)
    except WorkNotSaved:
        return [], None, True
    if salvage is None:
        return [], None, False
    return salvage_files(salvage, root / "log", redactor.redact), salvage.bundle, False


def _crashed(holding: Holding, refs: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "attempt": holding.attempt,
        "fencingToken": holding.fencing_token,
        "terminalState": str(TerminalState.FAILED),
        "reasonCode": "worker_crashed",
        "detail": {"workerId": holding.worker_id, "phase": holding.phase},
        "retryAt": None,
        "artifactRefs": [dict(ref) for ref in refs],
        "execution": Execution(adapter=holding.adapter).document(),
    }
