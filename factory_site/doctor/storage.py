"""Checks of what is stored: damaged objects and journals, absent documents, the last backup, the room that is left."""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from factory_site.doctor.report import EXAMPLES, Finding, Level
from factory_site.models import Backup
from runs.artifacts.store import folder_of, store
from runs.definitions.stored import definition_document, references
from runs.flow import RunState
from runs.models import Artifact, Document, Run
from runs.queue.audit import journal_faults
from runs.queue.journal_check import journal_check_found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

MOST_COUNTED = 1_000
BACKUP_OLD = timedelta(days=7)
LEAST_SHARE, LEAST_BYTES = 0.05, 2_000_000_000
GIGABYTE = 1_000_000_000


def artifacts_damaged(at: datetime) -> list[Finding]:
    """Stored objects whose bytes are not what they were."""
    del at
    rows = list(Artifact.objects.filter(quarantined_at__isnull=False).order_by("-quarantined_at")[:MOST_COUNTED])
    if not rows:
        return []
    names = tuple(row.sha256[:12] for row in rows[:EXAMPLES])
    text = f"{len(rows)} stored {'object is' if len(rows) == 1 else 'objects are'} damaged and put aside"
    mend = "manage.py restore FILE --missing, or run again what made it"
    return [Finding("artifact_corrupt", len(rows), rows[-1].quarantined_at, text, names, mend)]


def definitions_missing(at: datetime) -> list[Finding]:
    """Queued runs whose definition, or a document that it names, is absent; the oldest runs are looked at."""
    del at
    queued = Run.objects.filter(state=RunState.QUEUED).order_by("id")[:MOST_COUNTED]
    first: dict[str, str] = {}
    for def_hash, run_id in queued.values_list("def_hash", "run_id"):
        first.setdefault(def_hash, run_id)
    stored = set(Document.objects.filter(hash__in=first).values_list("hash", flat=True))
    named = {def_hash: _named(def_hash) for def_hash in stored}
    present = set(Document.objects.filter(hash__in=set().union(*named.values())).values_list("hash", flat=True))
    lost = {run_id: def_hash for def_hash, run_id in first.items() if def_hash not in stored}
    lost |= {first[def_hash]: min(hashes - present) for def_hash, hashes in named.items() if hashes - present}
    if not lost:
        return []
    run_id, content_hash = next(iter(lost.items()))
    text = f"run {run_id} needs the document {content_hash[:19]}…, which is not stored"
    mend = "manage.py restore FILE --missing"
    return [Finding("definition_missing", len(lost), None, text, tuple(lost)[:EXAMPLES], mend)]


def journals_faulty(at: datetime) -> list[Finding]:
    """Runs in whose journals the standing check found a fault that is still there."""
    del at
    _, noted = journal_check_found()
    faults = {run_id: list(journal_faults(run_id=run_id)) for run_id in dict.fromkeys(each.run_id for each in noted)}
    faulty = [each for found in faults.values() for each in found]
    if not faulty:
        return []
    first = faulty[0]
    text = f"run {first.run_id} row {first.seq}: {first.kind.replace('_', ' ')}"
    names = tuple(run_id for run_id, found in faults.items() if found)[:EXAMPLES]
    return [Finding("journal_fault", len(faulty), None, text, names, f"manage.py verify_journal --run {first.run_id}")]


def backup_old(at: datetime) -> list[Finding]:
    """No backup for a week, or none at all."""
    last = Backup.objects.order_by("-taken_at").values_list("taken_at", flat=True).first()
    if last is not None and at - last <= BACKUP_OLD:
        return []
    text = "there is no backup yet" if last is None else f"the last backup is of {last:%Y-%m-%d %H:%M} UTC"
    return [Finding("backup_old", 1, last, text, (), "manage.py backup", Level.NOTICE)]


def disk_low(at: datetime) -> list[Finding]:
    """Little room for the data folder, or for the store of objects where it is another place of this host."""
    del at
    places = {settings.FACTORY.home, folder_of(store()) or settings.FACTORY.home}
    low = [sentence for place in sorted(places) if (sentence := _little_room(place))]
    mend = f"manage.py prune; free space on {settings.FACTORY.home}"
    return [Finding("disk_low", len(low), None, low[0], tuple(low[1:EXAMPLES]), mend)] if low else []


def _named(def_hash: str) -> set[str]:
    return {entry["hash"] for entry in references(definition_document(def_hash))}


def _little_room(place: Path) -> str:
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    if usage.free >= LEAST_BYTES and usage.free >= LEAST_SHARE * usage.total:
        return ""
    return f"{place} has {usage.free / GIGABYTE:.1f} GB left, {usage.free * 100 // usage.total} %"


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    artifacts_damaged,
    definitions_missing,
    journals_faulty,
    backup_old,
    disk_low,
)
