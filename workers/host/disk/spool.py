"""The durable outbox: an outcome is on disk before it is sent, and sent until there is a definite answer."""

import base64
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from runs.contract.canonical import bare_hex
from runs.contract.codes import Reaction
from runs.contract.ids import attempt_name
from workers.host.client import Answer, Client, WireFault, patiently
from workers.host.disk.files import copy_in, make_private, read_json, remove_tree, sync_folder, write_json

MANIFEST = "manifest.json"
STATE = "state.json"
DAY = 86_400

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpooledFile:
    """An artifact of a submission: its ref on the wire, and where its bytes are now."""

    ref: Mapping[str, Any]
    source: Path
    media_type: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission on disk."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The attempt that it is the outcome of."""
        return attempt_name(self.manifest["runId"], self.manifest["body"]["attempt"])


def spool(outbox: Path, *, worker_id: str, run_id: str, body: Mapping[str, Any], files: Sequence[SpooledFile],
          salvage: str | None = None) -> Entry:  # fmt: skip
    """Write the submission under a new key; it survives any crash once this returns.

    ``salvage`` is a local bundle that may go when the server has it.
    """
    key = str(uuid.uuid4())
    parent = make_private(outbox / attempt_name(run_id, body["attempt"]))
    temporary = make_private(parent / f".{key}")
    if files:
        stored = make_private(temporary / "artifacts")
        for file in files:
            copy_in(file.source, stored / bare_hex(file.ref["sha256"]))
        sync_folder(stored)
    manifest = {
        "key": key,
        "workerId": worker_id,
        "runId": run_id,
        "body": dict(body),
        "mediaTypes": {file.ref["sha256"]: file.media_type for file in files},
        "salvage": salvage,
    }
    write_json(temporary / MANIFEST, manifest, durable=True)
    final = parent / key
    temporary.rename(final)
    sync_folder(parent)
    return Entry(final, manifest)


def pending(boot_folder: Path) -> Iterator[Entry]:
    """The submissions below a boot's folder, adopted ones included, oldest first."""
    found = [path for path in boot_folder.rglob(MANIFEST) if not path.parent.name.startswith(".")]
    for path in sorted(found, key=lambda item: (item.stat().st_mtime, item)):
        manifest = read_json(path)
        if manifest is not None:
            yield Entry(path.parent, manifest)


class Sender:
    """Sends spooled submissions, and does about a refusal what the protocol says."""

    def __init__(self, client: Client, home: Path, pause: Callable[[float], bool]) -> None:
        """``pause`` sleeps the given seconds and says whether to stop trying; the entry then stays."""
        self._client = client
        self._quarantine = home / "quarantine"
        self._pause = pause

    def send(self, entry: Entry, accepted: Callable[[Answer], None] | None = None) -> bool:
        """True when the server has this outcome, or the failure that was reported instead of it.

        ``accepted`` runs after the answer and before the entry is removed: an entry that outlives a kill between the
        two is sent again under its key and gets the same answer. Raises ``Unreachable`` or ``WireFault`` only when
        ``pause`` asked to stop; the entry is then still pending.
        """
        try:
            answer = self._deliver(entry)
        except WireFault as fault:
            if fault.reaction in {Reaction.RETRY, Reaction.STOP_CLAIMING}:
                raise
            return self._refused(entry, fault, accepted)
        if accepted is not None:
            accepted(answer)
        salvage = entry.manifest.get("salvage")
        if salvage:
            Path(salvage).unlink(missing_ok=True)
        remove_entry(entry)
        return True

    def _deliver(self, entry: Entry) -> Answer:
        manifest = entry.manifest
        state = read_json(entry.folder / STATE) or {}
        done = set(state.get("uploaded", ()))
        for ref in manifest["body"]["artifactRefs"]:
            if ref["sha256"] not in done:
                self._patiently(entry, partial(self._upload, entry, ref))
                done.add(ref["sha256"])
                self._note(entry, uploaded=sorted(done))
        path = f"/worker/v1/runs/{manifest['runId']}/result"
        return self._patiently(entry, lambda: self._client.post(
            path, manifest["body"], key=manifest["key"], worker_id=manifest["workerId"]))  # fmt: skip

    def _patiently(self, entry: Entry, act: Callable[[], Answer]) -> Answer:
        tries = 0

        def counted() -> Answer:
            nonlocal tries
            tries += 1
            try:
                return act()
            except Exception as error:
                self._note(entry, tries=tries, lastError=str(error)[:500])
                raise

        return patiently(counted, self._client.credentials, self._pause)

    def _upload(self, entry: Entry, ref: Mapping[str, Any]) -> Answer:
        try:
            return self._upload_once(entry, ref)
        except WireFault as fault:
            if fault.reaction is not Reaction.UPLOAD_AGAIN:
                raise
            return self._upload_once(entry, ref)

    def _upload_once(self, entry: Entry, ref: Mapping[str, Any]) -> Answer:
        manifest = entry.manifest
        path = entry.folder / "artifacts" / bare_hex(ref["sha256"])
        return upload_file(
            self._client,
            path,
            ref,
            run_id=manifest["runId"],
            attempt=manifest["body"]["attempt"],
            token=manifest["body"]["fencingToken"],
            media_type=manifest["mediaTypes"].get(ref["sha256"], "application/octet-stream"),
            worker_id=manifest["workerId"],
        )

    def _refused(self, entry: Entry, fault: WireFault, accepted: Callable[[Answer], None] | None) -> bool:
        quarantine(self._quarantine, entry, fault)
        replacement = _replacement(entry.manifest["body"], fault)
        if replacement is None:
            return False
        outbox = entry.folder.parent.parent
        again = spool(outbox, worker_id=entry.manifest["workerId"], run_id=entry.manifest["runId"], body=replacement,
                      files=())  # fmt: skip
        return self.send(again, accepted)

    def _note(self, entry: Entry, **changes: Any) -> None:
        state = read_json(entry.folder / STATE) or {}
        write_json(entry.folder / STATE, {**state, **changes})


def upload_file(client: Client, path: Path, ref: Mapping[str, Any], *, run_id: str, attempt: int, token: str,
                media_type: str, worker_id: str | None = None) -> Answer:  # fmt: skip
    """Store the bytes of one file under its hash and get the grant."""
    digest = base64.b64encode(bytes.fromhex(bare_hex(ref["sha256"]))).decode()
    headers = {
        "X-Run-Id": run_id,
        "X-Attempt": str(attempt),
        "X-Fencing-Token": token,
        "X-Artifact-Kind": str(ref["kind"]),
        "Digest": f"sha-256={digest}",
        "Content-Type": media_type,
        "Content-Length": str(path.stat().st_size),
    }
    with path.open("rb") as content:
        return client.upload(content, headers, worker_id=worker_id)


def quarantine(folder: Path, entry: Entry, fault: WireFault) -> None:
    """Put the submission aside with the answer; it is never sent again."""
    make_private(folder)
    answer = {"code": fault.code, "http": fault.http, "message": str(fault)[:2000], "details": fault.details}
    write_json(entry.folder / "answer.json", answer, durable=True)
    target = folder / f"{entry.name}-{entry.folder.name}"
    entry.folder.rename(target)
    sync_folder(folder)
    _tidy(entry.folder.parent)
    log.warning("event=quarantined attempt=%s code=%s", entry.name, fault.code)


def remove_entry(entry: Entry) -> None:
    """The entry is gone; the folder of its attempt too, if it was the last one."""
    remove_tree(entry.folder)
    _tidy(entry.folder.parent)


def quarantined(home: Path) -> list[Path]:
    """The quarantined submissions, oldest first."""
    folder = home / "quarantine"
    if not folder.is_dir():
        return []
    return sorted((path for path in folder.iterdir() if not path.name.startswith(".")), key=lambda p: p.stat().st_mtime)


def purge_quarantine(home: Path, older_than_days: int | None) -> int:
    """Remove quarantined submissions, all or those of a certain age; returns how many."""
    limit = time.time() - (older_than_days or 0) * DAY
    doomed = [path for path in quarantined(home) if older_than_days is None or path.stat().st_mtime < limit]
    for path in doomed:
        remove_tree(path)
    return len(doomed)


def quarantine_lines(home: Path) -> list[str]:
    """One line for each quarantined submission."""
    lines = []
    for path in quarantined(home):
        manifest, answer = read_json(path / MANIFEST) or {}, read_json(path / "answer.json") or {}
        state = (manifest.get("body") or {}).get("terminalState", "-")
        lines.append(f"{path.name} {state} refused with {answer.get('http', '-')} {answer.get('code', '-')}")
    return lines


def _replacement(body: Mapping[str, Any], fault: WireFault) -> dict[str, Any] | None:
    code = {Reaction.REPORT_FAULT: "adapter_error", Reaction.REPORT_VIOLATION: "contract_violation",
            Reaction.UPLOAD_AGAIN: "contract_violation"}.get(fault.reaction)  # fmt: skip
    if code is None or (body["terminalState"] == "failed" and body["reasonCode"] in {code, "contract_violation"}):
        return None
    if fault.code == "subject_changed":
        code = "subject_changed"
    detail = {"check": fault.details.get("check", fault.code), "message": str(fault)[:2000]}
    if isinstance(fault.details.get("path"), str):
        detail["path"] = fault.details["path"]
    return {
        "attempt": body["attempt"],
        "fencingToken": body["fencingToken"],
        "terminalState": "failed",
        "reasonCode": code,
        "detail": json.loads(json.dumps(detail)),
        "retryAt": None,
        "artifactRefs": [],
        "execution": body["execution"],
    }


def _tidy(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
