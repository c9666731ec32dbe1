"""The standing check of the journals, and a check that runs meanwhile."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from runs.clock import now
from runs.models import JournalCheck, JournalRow, Run
from runs.queue import audit
from runs.queue.audit import faults_of, journal_faults
from runs.queue.journal_check import journal_check_found, journal_check_pass
from tests.queue_driver import claim, completed_body, enqueue, publish


def completed():
    run = enqueue(subject=f"pull-request:1:{Run.objects.count()}")
    attempt = claim()
    publish(attempt, completed_body(attempt))
    run.refresh_from_db()
    return run


def damaged(run, seq=2):
    JournalRow.objects.filter(run=run, seq=seq).update(actor="operator:mallory")
    return run


def test_a_sweep_goes_through_every_run_in_slices_and_begins_again_a_day_later():
    runs = [completed() for _ in range(5)]
    damaged(runs[4])
    journal_check_pass(runs=2)
    check = JournalCheck.objects.get()
    assert (check.runs_checked, check.fault_count, check.ended_at) == (2, 0, None)
    for _ in range(3):
        journal_check_pass(runs=2)
    check.refresh_from_db()
    assert (check.runs_checked, check.fault_count) == (5, 1)
    assert check.ended_at is not None
    ended, faults = journal_check_found()
    assert ended == check
    assert [str(fault) for fault in faults] == [f"{runs[4].run_id} 2 altered"]
    journal_check_pass()
    assert JournalCheck.objects.get() == check, "the next begins a day after it"
    JournalCheck.objects.update(began_at=now() - timedelta(days=1, seconds=1))
    JournalRow.objects.filter(run=runs[4], seq=2).update(actor=JournalRow.objects.get(run=runs[3], seq=2).actor)
    journal_check_pass(runs=1)
    assert JournalCheck.objects.count() == 2, "what the last one found stays until this one has ended"
    journal_check_pass()
    journal_check_pass()
    assert JournalCheck.objects.get().fault_count == 1, "another worker had leased it"


def test_two_passes_at_once_count_no_run_twice(monkeypatch):
    """RU-H16"""
    for _ in range(3):
        completed()
    real = audit.faults_of
    inner: list[bool] = []

    def meanwhile(batch):
        if not inner:
            inner.append(True)
            journal_check_pass()
        return real(batch)

    monkeypatch.setattr("runs.queue.journal_check.faults_of", meanwhile)
    journal_check_pass()
    assert JournalCheck.objects.get().runs_checked == 3


def test_a_run_that_moves_while_it_is_read_has_no_fault():
    """RU-H5"""
    run = enqueue()
    before = Run.objects.get(pk=run.pk)
    claim()
    assert faults_of([before]) == []
    assert list(journal_faults()) == []


def test_a_run_that_was_removed_meanwhile_has_no_fault():
    run = completed()
    Run.objects.filter(pk=run.pk).delete()
    run.pk = JournalRow.objects.count() + 1
    assert faults_of([run]) == []


def test_verify_journal_looks_from_an_instant_on_and_says_how_to_write_it():
    """RU-S21"""
    run = damaged(completed())
    Run.objects.filter(pk=run.pk).update(created_at=now() - timedelta(days=8))
    completed()
    out = StringIO()
    call_command("verify_journal", "--since", "7d", stdout=out)
    assert "every journal that was looked at verifies" in out.getvalue()
    out = StringIO()
    with pytest.raises(SystemExit) as wrong:
        call_command("verify_journal", "--since", "9d", stdout=out)
    assert wrong.value.code == 1
    assert out.getvalue() == f"{run.run_id} 2 altered\n"
    with pytest.raises(CommandError, match="write a day as 2026-08-30, or a span back from now as 7d"):
        call_command("verify_journal", "--since", "yesterday")
