"""The rows of dependencies: what bodies, submits, agents and people say, and how each was read to stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from convergence.forge.facts import PullFacts, PullState
from convergence.models import Repository
from merging.decisions.dependencies import (
    NOT_A_PULL_REQUEST,
    UNREADABLE,
    Named,
    Reference,
    Source,
    Standing,
    known_key,
)
from merging.flow import MERGE_MACHINE
from merging.models import Dependency
from runs.clock import now as clock_now
from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid, NotFound
from runs.flows.looks import flow_wake

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from convergence.models import PullRequest

STANDINGS = {
    PullState.OPEN: Standing.WAITING,
    PullState.MERGED: Standing.CLEAR,
    PullState.CLOSED: Standing.DEAD,
}


def reference_key(reference: Reference) -> str:
    """The key of a reference: by its repository's number where the repository is known here."""
    found = Repository.objects.filter(owner__iexact=reference.owner, name__iexact=reference.name).first()
    return known_key(found.forge_id, reference.number) if found else reference.key


def own_key(pull: PullRequest) -> str:
    """The key under which other pull requests depend on this one."""
    return known_key(pull.repository.forge_id, pull.number)


def dependencies_declared(pull: PullRequest, body: str, named: Named, *, now: datetime) -> list[str]:
    """Make the declared rows those of the body; return what of it names nothing usable. Repeating it changes nothing.

    A row of another source that names the same pull request stays what it is.
    """
    rows = list(Dependency.objects.filter(pull=pull))
    this_body = document_hash({"body": body})
    warnings = [f"{word} names no pull request" for word in named.unreadable]
    kept: set[int] = set()
    for reference in named.references:
        key = reference_key(reference)
        if key == own_key(pull):
            warnings.append(f"{reference} is this pull request itself")
            continue
        row = _row_of(rows, key, reference)
        if row is None:
            row = _add(pull, key, reference, Source.DECLARED, by="body", now=now)
        elif row.dropped_at and row.source == Source.DECLARED and row.declared_in != this_body:
            _undrop(row)
        if row.declared_in != this_body:
            _write(row, declared_in=this_body)
        kept.add(row.pk)
    gone = [row.pk for row in rows if row.source == Source.DECLARED and row.pk not in kept and not row.dropped_at]
    if gone:
        Dependency.objects.filter(pk__in=gone).delete()
    return warnings


def dependencies_submitted(pull: PullRequest, references: Iterable[Reference], *, actor: str, now: datetime) -> None:
    """Replace what the last submit named by this set, in the caller's transaction."""
    rows = list(Dependency.objects.filter(pull=pull))
    kept: set[int] = set()
    for reference in references:
        key = reference_key(reference)
        row = _row_of(rows, key, reference)
        if row is None:
            row = _add(pull, key, reference, Source.SUBMITTED, by=actor, now=now)
        elif row.dropped_at:
            _undrop(row, source=Source.SUBMITTED, added_by=actor)
        elif row.source == Source.DECLARED:  # and stays when the body no longer says so
            _write(row, source=Source.SUBMITTED, added_by=actor[:200])
        kept.add(row.pk)
    Dependency.objects.filter(pull=pull, source=Source.SUBMITTED).exclude(pk__in=kept).delete()


def dependencies_discovered(pull: PullRequest, references: Iterable[Reference], *, run_id: str, now: datetime) -> None:
    """Add what an agent says that this one waits for, in the caller's transaction; a dropped one stays dropped."""
    rows = list(Dependency.objects.filter(pull=pull))
    for reference in references:
        key = reference_key(reference)
        if key == own_key(pull):
            continue
        row = _row_of(rows, key, reference)
        if row is None:
            _add(pull, key, reference, Source.DISCOVERED, by=run_id, now=now)
        elif row.source == Source.DECLARED and not row.dropped_at:  # and stays when the body no longer says so
            _write(row, source=Source.DISCOVERED, added_by=run_id[:200])


def usable_references(pull: PullRequest, references: Iterable[Reference]) -> list[Reference]:
    """Those that another pull request could be: not this one, and none that a person has dropped."""
    dropped = Dependency.objects.filter(pull=pull, dropped_at__isnull=False)
    keys = {key for pair in dropped.values_list("key", "reference") for key in (pair[0], pair[1].lower())}
    return [each for each in references if (key := reference_key(each)) != own_key(pull) and not {key, each.key} & keys]


def dependency_seen(row: Dependency, read: PullFacts, *, now: datetime) -> None:
    """Take over a reading of the pull request that is waited for; its repository's number becomes the key."""
    key = known_key(read.repository.forge_id, read.number)
    if key != row.key and Dependency.objects.filter(pull=row.pull_id, key=key).exclude(pk=row.pk).exists():
        Dependency.objects.filter(pk=row.pk).delete()  # the same one, named by an older name of its repository
        return
    _write(
        row,
        key=key,
        reference=read.key,
        repository_id=read.repository.forge_id,
        number=read.number,
        node_id=read.node_id,
        standing=STANDINGS[read.state],
        note="",
        read_at=now,
        missing_since=None,
        unreadable_since=None,
    )


def dependency_no_pull(row: Dependency, *, sure: bool, now: datetime) -> None:
    """Its repository can be read and holds no such pull request: it can never merge, so it blocks nobody.

    ``sure`` for an issue of that number; a number that does not exist is believed at the second reading.
    """
    standing = Standing.CLEAR if sure else Standing.WAITING
    _write(
        row,
        standing=standing,
        note=NOT_A_PULL_REQUEST,
        read_at=now,
        missing_since=row.missing_since or now,
        unreadable_since=None,
    )


def dependency_unreadable(row: Dependency, *, now: datetime) -> None:
    """Its repository cannot be read: it blocks, because nothing is known of it."""
    _write(
        row,
        standing=Standing.WAITING,
        note=UNREADABLE,
        read_at=now,
        missing_since=None,
        unreadable_since=row.unreadable_since or now,
    )


def dependency_noted(row: Dependency, note: str) -> None:
    """Mark a waiting dependency, or take its mark away."""
    if row.note != note:
        _write(row, note=note)


def dependency_drop(pull: PullRequest, key: str, *, actor: str, reason: str) -> Dependency:
    """Let the pull request go on without it, whatever its source; looks at once. A repeat changes nothing.

    Raises ``Invalid`` reason_required and ``NotFound`` unknown_dependency. A declared one comes back with a changed
    body only.
    """
    if not reason.strip():
        raise Invalid("reason_required", "Say why the dependency is dropped.", details={"field": "reason"})
    wanted = key.strip().lower()
    if wanted.startswith("#"):
        wanted = f"{pull.repository.full_name.lower()}{wanted}"
    with transaction.atomic():
        rows = list(Dependency.objects.select_for_update().filter(pull=pull))
        row = next((each for each in rows if wanted in {each.key, each.reference.lower()}), None)
        if row is None:
            known = ", ".join(each.reference for each in rows if not each.dropped_at) or "none"
            raise NotFound(
                "unknown_dependency",
                f"{pull.key} does not depend on {key.strip()[:200]}. Its dependencies: {known}.",
                details={"key": key[:200]},
            )
        if row.dropped_at is None:
            _write(
                row,
                dropped_at=clock_now(),
                dropped_by=actor,
                drop_reason=reason.strip()[:500],
                note="",
            )
            flow_wake(MERGE_MACHINE.name, subject=pull.subject)
    return row


def dependents_wake(pull: PullRequest) -> int:
    """Have every merge that waits for this pull request look now."""
    waiting = Dependency.objects.in_the_way().filter(key=own_key(pull)).values("pull_id")
    return flow_wake(MERGE_MACHINE.name, pull_id__in=waiting)


def _row_of(rows: Iterable[Dependency], key: str, reference: Reference) -> Dependency | None:
    names = {key, reference.key}
    return next((row for row in rows if row.key in names or row.reference.lower() in names), None)


def _add(pull: PullRequest, key: str, reference: Reference, source: Source, *, by: str, now: datetime) -> Dependency:
    row, _ = Dependency.objects.get_or_create(
        pull=pull,
        key=key,
        defaults={
            "reference": str(reference),
            "number": reference.number,
            "source": source,
            "standing": Standing.WAITING,
            "added_by": by[:200],
            "added_at": now,
        },
    )
    return row


def _undrop(row: Dependency, **columns: object) -> None:
    _write(row, dropped_at=None, dropped_by="", drop_reason="", standing=Standing.WAITING, **columns)


def _write(row: Dependency, **columns: object) -> None:
    Dependency.objects.filter(pk=row.pk).update(**columns)
    for name, value in columns.items():
        setattr(row, name, value)
