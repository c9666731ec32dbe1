"""Every fault that rows alone can show: what provokes it, what it says, which command mends it, and the mend itself.

Each provoker makes the fault and returns the action after which it is gone.
"""

import os
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from runs.definitions.sync import SHIPPED
from runs.models import Artifact, Attempt, HumanTask, Outbox, PeriodicTask, Prompt, Run
from runs.queue.operating.retry import run_retry
from tests import queue_driver as queue
from tests.db.rows import Rows, ago, now
from workers.allowances import Allowances
from workers.models import Credential, CredentialToken, Pool, Worker
from workers.services.credentials import credential_issue


def worker_made(worker_id="lab.1", **columns):
    fields = {"node": "lab", "started_at": ago(hours=1), "last_seen_at": now(), **columns}
    return Worker.objects.create(worker_id=worker_id, **fields)


def worker_with(mended=None, **columns):
    """A worker with what is wrong in its row, and the row without it."""
    row = worker_made(**columns)
    return partial(Worker.objects.filter(pk=row.pk).update, **(mended or dict.fromkeys(columns, "")))


def health(**facts):
    return worker_with({"health": {}}, health=facts)


def ready_run(**span):
    run = queue.enqueue()
    Run.objects.filter(pk=run.pk).update(queued_at=ago(**span))
    return run


def claimed():
    queue.enqueue()
    return queue.claim()


def attempt_with(**columns):
    attempt = claimed()
    Attempt.objects.filter(pk=attempt.pk).update(**columns)
    return lambda: queue.publish(attempt, queue.completed_body(attempt))


def pass_with(name, **columns):
    row = PeriodicTask.objects.create(**{"name": name, "interval_seconds": 1, "due_at": now(), **columns})
    return partial(PeriodicTask.objects.filter(pk=row.pk).update, due_at=now(), error="")


def pool_with(mended, *, counts=None, **columns):
    at = now()
    fields = {"node": "lab", "name": "main", "min": 1, "max": 3, "decided_at": at, "seen_at": at, **columns}
    row = Pool.objects.create(**fields, counts=counts or {}, offer=queue_offer())
    return partial(Pool.objects.filter(pk=row.pk).update, **mended)


def queue_offer():
    return {
        "labels": {},
        "adapters": ["*"],
        "anyAdapter": "command",
        "adapterOverride": "command",
        "workspaceKinds": ["ephemeral", "worktree"],
        "repositories": ["*"],
    }


def nobody_takes():
    ready_run(minutes=2)
    return lambda: worker_made(offer=queue_offer())


def fits_nobody():
    worker_made(offer=queue_offer())
    run = queue.enqueue(placement={"can": "deploy"})
    Run.objects.filter(pk=run.pk).update(queued_at=ago(minutes=2))
    return lambda: Run.objects.filter(pk=run.pk).update(queued_at=now())


def ready_for_long():
    worker_made(offer=queue_offer())
    ready_run(minutes=40)
    return queue.claim


def run_failed():
    run = queue.enqueue()
    ended = {"state": "failed", "cause": "environment", "reason_code": "worker_lost", "ended_at": ago(hours=1)}
    Run.objects.filter(pk=run.pk).update(**ended, environment_failures=3, flow_type="")
    return lambda: run_retry(run=Run.objects.get(pk=run.pk), actor="operator:ann")


def node_fails():
    attempt = claimed()
    rows = Attempt.objects.filter(pk=attempt.pk)
    one = rows.values().get()
    ended = {"cause": "environment", "reason_code": "clone_failed", "outcome": "failed", "finished_at": now()}
    rows.delete()
    for number in range(1, 6):
        given = {
            **one,
            "id": None,
            "number": number,
            "claim_key": f"key-{number}",
            "worker_id": f"lab.{number}",
            **ended,
        }
        Attempt.objects.create(**given)
    return lambda: Attempt.objects.update(finished_at=ago(minutes=11))


def delivery_dead():
    made = {"topic": "x", "key": "k", "stream": "s", "created_at": now(), "available_at": now()}
    row = Outbox.objects.create(**made, dead_at=now(), last_error="gone")
    return partial(Outbox.objects.filter(pk=row.pk).update, dead_at=None)


def delivery_late():
    row = Outbox.objects.create(
        topic="run.completed", key="k", stream="s", created_at=ago(minutes=2), available_at=ago(minutes=2)
    )
    return partial(Outbox.objects.filter(pk=row.pk).update, done_at=now())


def drains_for_hours():
    queue.enqueue()
    attempt = queue.claim()
    worker_made(attempt.worker_id, draining=True)
    Attempt.objects.filter(pk=attempt.pk).update(claimed_at=ago(hours=3), phase="running", started_at=ago(hours=3))
    return lambda: Worker.objects.update(stopped_at=now())


def artifact_damaged():
    row = Artifact.objects.create(sha256="0" * 64, size_bytes=1, media_type="x", stored_at=now(), quarantined_at=now())
    return row.delete


def credential_ends():
    credential_issue(node="lab", allowed=Allowances(), life=timedelta(days=10), actor="operator:ann")
    return lambda: CredentialToken.objects.update(expires_at=now() + timedelta(days=30))


def rotation_stays():
    at = ago(hours=25)
    credential = Credential.objects.create(node="lab", created_at=at, created_by="operator:ann")
    for name in ("old", "new"):
        row = CredentialToken.objects.create(
            credential=credential, token_hash=name * 8, prefix=name, created_at=at, created_by="operator:ann"
        )
    return lambda: CredentialToken.objects.exclude(pk=row.pk).update(revoked_at=now())


def question_overdue():
    at = now()
    row = HumanTask.objects.create(
        kind="x",
        subject="s",
        subject_label="s",
        question="Why?",
        seen_hash="h",
        dedupe_key="d",
        created_at=at,
        due_at=at,
    )
    HumanTask.objects.filter(pk=row.pk).update(due_at=ago(minutes=1))
    return partial(HumanTask.objects.filter(pk=row.pk).update, due_at=now() + timedelta(hours=1))


def secret_readable():
    home = settings.FACTORY.home
    mode = home.stat().st_mode
    path = home / "settings.env"
    path.touch()
    path.chmod(0o644)
    home.chmod(0o755)

    def mend():
        path.unlink()
        home.chmod(mode & 0o777)

    return mend


def migration_lacks():
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("workers", "0002_pools")
    return partial(recorder.record_applied, "workers", "0002_pools")


def definition_changed():
    folder = settings.FACTORY.home / "registry" / "prompts"
    folder.mkdir(parents=True, exist_ok=True)
    shipped = Prompt.objects.order_by("name").values_list("name", flat=True)[0]
    path = folder / shipped
    path.write_text((SHIPPED / "prompts" / shipped).read_text() + "Be brief.\n")
    for each in (path, folder):
        os.utime(each, (ago(minutes=2).timestamp(),) * 2)

    def mend():
        path.unlink()
        os.utime(folder, (ago(minutes=2).timestamp(),) * 2)

    return mend


def pool_abandoned():
    ready_run(seconds=10)
    return pool_with({"seen_at": now() + timedelta(seconds=5)}, seen_at=ago(seconds=31))


def pool_full():
    ready_run(minutes=16)
    return pool_with({"reason": "steady"}, action="hold", reason="at_max", counts={"claimable": 1})


def pool_idles():
    ready_run(minutes=2)
    return pool_with({"stuck_since": None}, stuck_since=ago(seconds=61), counts={"claimable": 1})


DISK = {"freeBytes": 3_000_000_000, "totalBytes": 10**12}
KEPT = {"count": 2, "bytes": 21_000_000_000, "oldestAt": None}

ROWS: Rows = {
    "secret_mode": (secret_readable, "settings.env can be read by others", "chmod 600 "),
    "migrations_pending": (migration_lacks, "lacks 1 migration: workers.0002_pools", "manage.py migrate"),
    "definitions_differ": (definition_changed, "1 file differs from what is loaded", "manage.py sync_definitions"),
    "disk_low": (
        partial(worker_with, {"blocked_reason": ""}, blocked_reason="disk_full", health={"disk": DISK}),
        "the worker home on lab has 3.0 GB left",
        "free space on lab",
    ),
    "reaper_stalled": (
        partial(pass_with, "reaper", due_at=ago(seconds=40)),
        "lost attempts are not taken back since",
        "manage.py serve",
    ),
    "task_stalled": (
        partial(pass_with, "flows", due_at=ago(minutes=2)),
        "the pass flows last began",
        "manage.py serve",
    ),
    "pass_failing": (
        partial(pass_with, "flows", error="it broke"),
        "the pass flows fails: it broke",
        "manage.py serve",
    ),
    "outbox_lag": (delivery_late, "1 effect waits since", "manage.py status; restart serve"),
    "outbox_dead": (delivery_dead, "1 effect was given up: k: gone", "manage.py runs requeue-effect "),
    "attempt_overdue": (
        partial(attempt_with, heartbeat_due_at=ago(seconds=31)),
        "1 attempt holds a lease that ended",
        "manage.py serve",
    ),
    "leased_not_started": (
        partial(attempt_with, claimed_at=ago(minutes=16)),
        "has been preparing since",
        "manage.py runs show run_",
    ),
    "unplaceable": (fits_nobody, "fits no worker: nearest", "manage.py work --label can=deploy"),
    "no_workers": (nobody_takes, "1 run waits and nothing can take it", "manage.py supervise"),
    "queue_old": (ready_for_long, "has been ready since", "manage.py runs why run_"),
    "node_failing": (node_fails, "node lab fails runs with clone failed: 5 times", "manage.py workers list --node lab"),
    "retry_exhausted": (
        run_failed,
        "failed 3 times, the last time with: worker lost",
        "queue it again: manage.py runs retry run_",
    ),
    "worker_lost": (
        partial(worker_with, {"stopped_at": now()}, last_seen_at=ago(minutes=10)),
        "worker lab.1 was last heard",
        "manage.py work on lab",
    ),
    "worker_blocked": (
        partial(worker_with, blocked_reason="credential_refused"),
        "worker lab.1 does not claim: credential refused",
        "manage.py credentials rotate lab",
    ),
    "worker_outdated": (
        partial(worker_with, {"blocked_reason": ""}, blocked_reason="worker_outdated", started_at=now(), version="1.0"),
        "worker lab.1 runs 1.0, the server asks for a newer one",
        "update the package on lab",
    ),
    "adapter_unavailable": (
        partial(health, adaptersMissing={"command": "cli_missing"}),
        "node lab no longer offers command: cli missing",
        "install or log in to command on lab",
    ),
    "isolation_low": (
        partial(health, isolation={"level": "none", "lacks": ["not_in_this_version"]}),
        "agents on lab run with isolation none: not in this version",
        "manage.py work --isolation none",
    ),
    "workspace_kept": (
        partial(health, kept=KEPT),
        "lab keeps 21.0 GB of workspaces",
        "manage.py work --list-kept on lab",
    ),
    "idle_not_taking": (
        pool_idles,
        "1 run could be leased by main@lab, which stays idle",
        "manage.py runs why run_",
    ),
    "quarantine": (
        partial(worker_with, {"quarantined": 0}, quarantined=2),
        "2 results on lab were refused",
        "manage.py work --list-quarantine on lab",
    ),
    "supervisor_dead": (
        pool_abandoned,
        "the pool main@lab has no supervisor, and 1 run waits for it",
        "manage.py supervise --pool main on lab",
    ),
    "pool_crash_loop": (
        partial(pool_with, {"crashes": 0}, crashes=5, last_line="no such file: agent"),
        "workers of main@lab die at start, 5 in a row: no such file: agent",
        "mend what the line names",
    ),
    "pool_below_min": (
        partial(pool_with, {"short_since": None}, short_since=ago(seconds=61)),
        "pool main@lab has 0 of 1 workers",
        "manage.py supervise --once --pool main on lab",
    ),
    "at_max": (pool_full, "pool main@lab is full: 3 workers", "raise pools.lab.main.max in policy.yaml"),
    "drain_stuck": (drains_for_hours, "still leaves, on run run_", "manage.py runs show run_"),
    "credential_expiring": (
        credential_ends,
        "the credential of lab ends on",
        "manage.py credentials rotate lab",
    ),
    "rotation_open": (rotation_stays, "lab still uses its old token", "install the new file on lab"),
    "artifact_corrupt": (artifact_damaged, "1 stored object is damaged", "manage.py restore FILE --missing"),
    "clock_skew": (
        partial(worker_with, {"clock_skew_ms": 0}, clock_skew_ms=-61_000),
        "the clock of lab is off by 61 s",
        "set the time on lab",
    ),
    "task_overdue": (question_overdue, "1 question waits", "manage.py tasks list"),
}
