"""Mass rows by SQL: a hundred thousand queued runs and a million finished ones, copied from one real row.

Their hashes are those of the row they were copied from, so nothing may verify them.
"""

from collections.abc import Mapping
from typing import Any

BATCH = 100_000
UNPLACEABLE_CLASSES = 40


def queued(count: int) -> None:
    """Further queued runs that every worker can take, each with a specification."""
    template = _template()
    for begin, end in _batches(count):
        _copy(template, "q", begin, end, {"flow_subject": "'bench:' || i", "subject": "'bench:' || i"})
    _execute(
        "INSERT INTO runs_runspec (run_id, canonical) SELECT r.id, s.canonical FROM runs_run r, runs_runspec s"
        " WHERE s.run_id = %s AND r.run_id LIKE 'run_q%%'",
        [template],
    )


def unplaceable(count: int, *, begin: int = 0) -> None:
    """Further queued runs that ask for a label which no worker has, in forty classes; numbered from ``begin``."""
    from runs.clock import now
    from runs.contract.placement import Requirement
    from runs.queue.placement import placement_class_for

    classes = [
        placement_class_for(
            Requirement("any", "ephemeral", {"machine": f"absent-{number}"}, agent_id="bench"), now()
        ).pk
        for number in range(UNPLACEABLE_CLASSES)
    ]
    first = min(classes)
    template = _template()
    for start, end in _batches(count):
        _copy(template, "u", begin + start, begin + end, {"placement_class_id": f"{first} + i %% {len(classes)}"})


def finished(count: int, *, subjects: int = 1000) -> None:
    """Runs that completed long ago, each with its attempt and usage, of so many subjects."""
    template = _template()
    columns = {
        "state": "'completed'",
        "reason_code": "'ok'",
        "ended_at": "queued_at",
        "attempt_number": "1",
        "subject": f"'bench:' || (i %% {subjects})",
    }
    for begin, end in _batches(count):
        _copy(template, "f", begin, end, columns)
    _execute(
        """
        INSERT INTO runs_attempt (run_id, number, agent_ref, worker_id, node, worker_version, phase, outcome,
          reason_code, cause, detail_json, claimed_at, finished_at, deadline_at, heartbeat_due_at, liveness_seconds,
          heartbeat_seq, heartbeat_hash, control_seq, adapter, model, def_hash, prompt_hash, exclusive_key, claim_key,
          claim_hash, result_key, result_hash)
        SELECT id, 1, agent_ref, 'bench.20260101T000000Z.000000', 'bench', '0.1.0', 'publishing', 'completed', 'ok', '',
          '{}', queued_at, ended_at, queued_at, queued_at, 90, 1, '', 0, 'fake', '', def_hash, '', '',
          run_id, '', run_id, '' FROM runs_run WHERE state = 'completed' AND run_id LIKE 'run_f%%'
        """
    )
    _execute(
        "UPDATE runs_run SET fencing_token = (SELECT a.id FROM runs_attempt a WHERE a.run_id = runs_run.id)"
        " WHERE state = 'completed' AND run_id LIKE 'run_f%%'"
    )
    _execute(
        """
        INSERT INTO runs_usage (attempt_id, adapter, model, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, turns, duration_ms, cost_micro_usd, cost_source, updated_at)
        SELECT id, adapter, '', 1000, 100, 0, 0, 1, 1000, 10000, 'reported', claimed_at FROM runs_attempt
        WHERE outcome = 'completed'
        """
    )


def analyse() -> None:
    """Let the planner know what lies where, as a database that has lived does."""
    _execute("ANALYZE")


def _template() -> int:
    """The key of one real queued run."""
    from runs.models import Run
    from tests.benchmarks.place import enqueue

    found = Run.objects.filter(state="queued", agent_id="bench").order_by("pk").first()
    return int((found or enqueue(1)).pk)


def _copy(template: int, letter: str, begin: int, end: int, columns: Mapping[str, str]) -> None:
    """Copy the row for each i from ``begin`` up to ``end``; ``columns`` are expressions over it and i."""
    from runs.models import Run

    stated: dict[str, Any] = {
        "run_id": f"'run_{letter}' || i",
        "idempotency_key": f"'bench:{letter}:' || i",
        "flow_entry": "i",
        **columns,
    }
    names = [str(field.column) for field in Run._meta.concrete_fields if not field.primary_key]
    values = ", ".join(str(stated.get(name, f"t.{name}")) for name in names)
    _execute(
        f"WITH RECURSIVE n(i) AS (SELECT {begin} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {end})"
        f" INSERT INTO runs_run ({', '.join(names)}) SELECT {values} FROM n, runs_run t WHERE t.id = %s",
        [template],
    )


def _batches(count: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + BATCH, count)) for begin in range(0, count, BATCH)]


def _execute(statement: str, parameters: list[Any] | None = None) -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters or [])
