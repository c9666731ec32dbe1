"""Retention removes what is over, keeps what something still needs, and says what it did."""

import hashlib
import io
import itertools
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import ConvergenceFlow
from runs.clock import now
from runs.contract.errors import NotFound, Refused
from runs.flows.move import EFFECT_TOPIC, Move, flow_move, flow_start
from runs.models import (
    Artifact,
    ArtifactGrant,
    Attempt,
    Definition,
    Document,
    JournalRow,
    Outbox,
    Receipt,
    RemovedRun,
    Result,
    ResultArtifact,
    Run,
    RunSpec,
    Spend,
    TraceRow,
    Usage,
    WebhookDelivery,
)
from runs.policy import policy_forget
from runs.queue.audit import journal_faults
from runs.queue.enqueue import run_enqueue
from runs.reading.detail import run_find
from runs.retention import rules as retention_rules
from runs.retention.ages import first_key_since
from runs.retention.prune import prune_pass, pruned
from runs.retention.rules import Rule, register_rule, rules
from tests.db.kernel.pulls import pull_made
from tests.queue_driver import claim, completed_body, enqueue, failed_body, load_definitions, publish, step_spec

pytestmark = pytest.mark.django_db
_subjects = itertools.count(1)


@pytest.fixture(autouse=True)
def definitions():
    load_definitions()


def ended(*, days, failed=False, trace=0):
    """A run that came to rest so many days ago, on a subject of its own."""
    run = enqueue(subject=f"pull-request:1:{next(_subjects)}", maxEnvironmentRetries=0, maxAttempts=1)
    attempt = claim()
    publish(attempt, failed_body(attempt) if failed else completed_body(attempt))
    TraceRow.objects.bulk_create(
        TraceRow(attempt=attempt, seq=seq, at=now(), kind="usage", payload_json="{}") for seq in range(trace)
    )
    at = now() - timedelta(days=days)
    Run.objects.filter(pk=run.pk).update(created_at=at, ended_at=at)
    Attempt.objects.filter(pk=attempt.pk).update(claimed_at=at, finished_at=at)
    run.refresh_from_db()
    return run


def bind(run, content, kind):
    sha256 = hashlib.sha256(content).hexdigest()
    Artifact.objects.get_or_create(
        sha256=sha256, defaults={"size_bytes": 1, "media_type": "text/plain", "stored_at": now() - timedelta(days=300)}
    )
    attempt = run.attempts.get()
    result = Result.objects.filter(run=run).first()
    ArtifactGrant.objects.get_or_create(attempt=attempt, artifact_id=sha256, defaults={"granted_at": now()})
    return ResultArtifact.objects.create(attempt=attempt, result=result, artifact_id=sha256, kind=kind, name=kind)


def prune(*flags):
    out = StringIO()
    call_command("prune", *flags, stdout=out)
    return out.getvalue()


def test_a_run_at_rest_for_400_days_goes_as_a_whole_and_leaves_its_names():
    """RU-H9: its idempotency key stays used."""
    old, young = ended(days=401, trace=3), ended(days=399)
    key = old.idempotency_key
    prune()
    for model in (RunSpec, JournalRow, Result, Receipt, Attempt):
        assert set(model.objects.values_list("run", flat=True)) == {young.pk}
    assert Usage.objects.get().attempt.run_id == young.pk
    assert not Spend.objects.filter(scope="run", key=old.run_id).exists()
    assert Spend.objects.filter(scope="day").exists(), "totals of a day are kept for ever"
    assert not TraceRow.objects.exists()
    assert list(journal_faults()) == []
    assert RemovedRun.objects.get().idempotency_key == key
    with pytest.raises(NotFound) as removed:
        run_find(old.run_id)
    assert "removed by retention" in removed.value.message
    with pytest.raises(Refused) as used:
        run_enqueue(spec=step_spec(idempotencyKey=key, origin={"kind": "operator"}), actor="operator:ann")
    assert used.value.code == "idempotency_conflict"


def test_a_run_that_moves_or_whose_flow_moves_is_never_old_enough():
    step, pull = ended(days=900), pull_made(12)
    waiting = enqueue(subject="pull-request:1:900")
    Run.objects.filter(pk=waiting.pk).update(created_at=now() - timedelta(days=900))
    Run.objects.filter(pk=step.pk).update(flow_subject=pull.subject)
    row, _ = flow_start(
        ConvergenceFlow,
        CONVERGENCE_MACHINE.edge("submitted"),
        subject=pull.subject,
        generation=1,
        actor="operator:ann",
        now=now(),
        pull=pull,
        max_rounds=20,
    )
    prune()
    assert set(Run.objects.values_list("pk", flat=True)) == {waiting.pk, step.pk}
    flow_move(row, Move(CONVERGENCE_MACHINE.edge("closed_elsewhere"), due_at=None), actor="poller", now=now())
    prune()
    assert set(Run.objects.values_list("pk", flat=True)) == {waiting.pk}


def test_traces_go_14_days_after_the_end_and_logs_that_no_receipt_cites_after_30():
    fresh, middle, old = ended(days=13, trace=2), ended(days=15, trace=2), ended(days=31, failed=True, trace=2)
    accepted = ended(days=31)
    kept = [bind(fresh, b"1", "transcript"), bind(accepted, b"2", "transcript"), bind(old, b"3", "bundle")]
    gone = bind(old, b"4", "console")
    prune()
    assert set(TraceRow.objects.values_list("attempt__run", flat=True)) == {fresh.pk}
    assert set(ResultArtifact.objects.values_list("pk", flat=True)) == {each.pk for each in kept}
    assert not Artifact.objects.filter(pk=gone.artifact_id).exists(), "and with its last reference the object"
    assert set(Run.objects.values_list("pk", flat=True)) == {fresh.pk, middle.pk, old.pk, accepted.pk}


def outbox(topic, key, *, days, done=True):
    at = now() - timedelta(days=days)
    done_at = at if done else None
    return Outbox.objects.create(topic=topic, key=key, stream="s", created_at=at, available_at=at, done_at=done_at)


def test_deliveries_made_go_but_effects_of_flows_and_what_waits_stay():
    Outbox.objects.all().delete()
    kept = {
        outbox("run.completed", "young", days=13).pk,
        outbox("run.completed", "waits", days=15, done=False).pk,
        outbox(EFFECT_TOPIC, "record", days=900).pk,
    }
    outbox("run.completed", "old", days=15)
    for number, days in enumerate((399, 401)):
        at = now() - timedelta(days=days)
        WebhookDelivery.objects.create(source="github", delivery_id=str(number), kind="x", body_hash="h", at=at)
    prune()
    assert set(Outbox.objects.values_list("pk", flat=True)) == kept
    assert WebhookDelivery.objects.get().delivery_id == "0"


def test_a_retired_definition_goes_with_its_last_run():
    old = ended(days=401)
    used = Definition.objects.get(def_hash=old.def_hash)
    content = Document.objects.get(hash=used.def_hash).content
    retired = Document.objects.create(
        hash="sha256:" + "e" * 64, kind="definition", content=content, size_bytes=1, created_at=now()
    )
    Definition.objects.create(
        **{
            field.attname: getattr(used, field.attname)
            for field in Definition._meta.fields
            if field.name not in {"id", "def_hash", "is_current"}
        },
        def_hash=retired.hash,
        is_current=False,
    )
    Document.objects.update(created_at=now() - timedelta(days=500))
    number = Document.objects.count()
    Run.objects.filter(pk=old.pk).update(def_hash=retired.hash, ended_at=now())
    prune()
    assert Document.objects.count() == number, "a run refers to it"
    Run.objects.filter(pk=old.pk).update(ended_at=now() - timedelta(days=401))
    prune()
    assert not Document.objects.filter(hash=retired.hash).exists()
    assert not Definition.objects.filter(def_hash=retired.hash).exists()
    assert Document.objects.count() == number - 1, "what a current definition names stays"


def test_a_dry_run_says_what_would_go_and_removes_nothing():
    ended(days=401, trace=2)
    told = prune("--dry-run")
    assert "traces: would remove 2 trace rows older than 14 days" in told
    assert "runs: would remove 1 runs at rest" in told
    assert (Run.objects.count(), TraceRow.objects.count()) == (1, 2)
    assert "runs: removed 1 runs at rest" in prune()


def test_the_policy_decides_and_null_keeps_for_ever(settings):
    ended(days=401)
    path = settings.FACTORY.home / "policy.yaml"
    try:
        path.write_text("retention: {runDays: null, traceDays: 1}\n")
        policy_forget()
        assert "runs: kept for ever" in prune()
        assert Run.objects.count() == 1
        path.write_text("retention: {runDays: 402}\n")
        policy_forget()
        prune()
        assert Run.objects.count() == 1
        path.write_text("retention: {runDays: 0}\n")
        policy_forget()
        with pytest.raises(CommandError, match=r"retention\.runDays"):
            prune()
    finally:
        path.unlink()
        policy_forget()


def test_a_transaction_removes_500_rows_at_most_and_a_pass_is_bounded(monkeypatch):
    run = ended(days=15, trace=1201)
    with CaptureQueriesContext(connection) as queries:
        removed = {each.rule.name: each.count for each in pruned(most=1)}
    assert removed["traces"] == 500
    deleted = [each["sql"] for each in queries if each["sql"].startswith("DELETE") and "tracerow" in each["sql"]]
    assert deleted
    assert TraceRow.objects.count() == 701
    prune_pass()
    assert not TraceRow.objects.exists()
    assert Run.objects.get() == run
    monkeypatch.setattr("runs.retention.whole_runs.BATCH", 20)
    for _ in range(3):
        ended(days=401)
    assert {each.rule.name: each.count for each in pruned(most=1)}["runs"] == 1, "one run has more than 10 rows"


def test_an_app_registers_a_rule_of_its_own():
    class Counting:
        left = 3

        def count(self, before):
            assert before < now()
            return self.left

        def remove_some(self, before):
            assert before < now()
            gone, self.left = min(self.left, 2), max(0, self.left - 2)
            return gone

    before = rules()
    register_rule(Rule("extra", "trace_days", "extra rows", Counting()))
    try:
        assert "extra: removed 3 extra rows older than 14 days" in prune()
    finally:
        retention_rules._rules.pop("extra")
    assert rules() == before


@pytest.mark.parametrize("count", [0, 1, 7])
def test_the_first_key_since_an_instant_is_found_whatever_gaps_the_keys_have(count):
    base = now()
    keys = []
    for number in range(count):
        row = Outbox.objects.create(
            topic="t", key=f"k{number}", stream="s", created_at=base + timedelta(hours=number), available_at=base
        )
        keys.append(row.pk)
        Outbox.objects.create(topic="t", key=f"x{number}", stream="s", created_at=base, available_at=base).delete()
    for number, key in enumerate(keys):
        assert first_key_since(Outbox, "created_at", base + timedelta(hours=number)) <= key
        later = first_key_since(Outbox, "created_at", base + timedelta(hours=number, minutes=1))
        assert later > key
        assert number + 1 == count or later <= keys[number + 1]
    assert first_key_since(Outbox, "created_at", base) <= (keys[0] if keys else 0)


def test_what_is_removed_was_readable_bytes():
    """The stored object of a removed run goes from the store, too."""
    from runs.artifacts.store import object_opened, object_stored

    run = ended(days=401)
    binding = bind(run, b"bytes", "transcript")
    object_stored(io.BytesIO(b"bytes"), size=5, sha256=binding.artifact_id)
    prune()
    assert object_opened(binding.artifact_id) is None
