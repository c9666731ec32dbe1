"""Each row of the doctor that rows of the database can provoke: it appears, names its mend, and goes away after it."""

import ast

import pytest
from django.conf import settings
from pydantic import SecretStr

from factory_site.doctor.queue import _placing
from factory_site.doctor.report import findings
from runs.clock import now
from runs.models import PeriodicTask
from tests import queue_driver as queue
from tests.db.doctor_flow_rows import FLOW_ROWS
from tests.db.doctor_forge_rows import FORGE_ROWS
from tests.db.doctor_rows import ROWS, attempt_with
from tests.db.rows import ago

pytestmark = pytest.mark.django_db
EVERY = {**ROWS, **FLOW_ROWS, **FORGE_ROWS}
ELSEWHERE = {  # what takes more than rows, each with the file that provokes and mends it
    "backup_old": "tests/db/test_doctor_storage.py",
    "budget_reached": "tests/db/test_doctor_limits.py",
    "check_failed": "tests/db/test_doctor.py",
    "control_plane_down": "tests/db/test_doctor.py",
    "definition_missing": "tests/db/backup/test_mending.py",
    "hold_old": "tests/db/test_doctor_limits.py",
    "journal_fault": "tests/db/test_doctor_storage.py",
    "paused_long": "tests/db/test_doctor_limits.py",
    "unkillable_process": "tests/db/workers/test_survivors.py",
}


@pytest.fixture(autouse=True)
def known_to_the_forge(settings):
    """An installation whose token the forge accepts."""
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": SecretStr("ghp_of_the_test")})


def codes_of_the_doctor():
    """Every code that stands in its checks: the words that begin a finding, and what a name there stands for."""
    found = set()
    for path in (settings.BASE_DIR / "factory_site" / "doctor").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").lower().lstrip("_") == "finding":
                words = (each for first in node.args[:1] for each in ast.walk(first))
                found |= {word.value for word in words if isinstance(word, ast.Constant)}
    return found


def seen():
    return {each.code: each for each in findings()}


def test_every_row_of_the_doctor_is_provoked_and_mended_somewhere():
    """PO-S20"""
    assert codes_of_the_doctor() - set(EVERY) - set(ELSEWHERE) == set()
    for code, path in ELSEWHERE.items():
        assert code in (settings.BASE_DIR / path).read_text(), f"{path} says nothing of {code}"


@pytest.mark.parametrize("code", EVERY)
def test_each_fault_appears_with_its_command_and_is_gone_after_its_mend(code):
    """PO-S20, PO-H12"""
    provoke, says, mend = EVERY[code]
    queue.load_definitions()
    assert not {code, "check_failed"} & set(seen())
    mended = provoke()
    try:
        found = seen()
        assert "check_failed" not in found
        assert code in found, sorted(found)
        row = found[code]
        assert says in row.text
        assert mend in row.mend
        assert len(row.examples) <= 5
    finally:
        mended()
    assert not {code, "check_failed"} & set(seen())


@pytest.mark.parametrize(
    ("lacks", "mend"),
    [
        ("label can=deploy", "manage.py work --label can=deploy"),
        ("adapter claude", "manage.py work --adapter claude"),
        ("an adapter for any", "manage.py work --command"),
        ("workspace kind repository", "manage.py credentials issue NODE --workspace-kind repository"),
        ("workspace kind worktree", "set GITHUB_TOKEN"),
        ("repository acme/shop", "manage.py credentials issue NODE --repository acme/shop"),
    ],
)
def test_what_no_worker_can_take_comes_with_the_command_for_what_is_lacking(lacks, mend):
    assert _placing([lacks, "label a=b"]).startswith(mend)


def test_silence_is_a_fault_once_every_worker_had_its_chance_to_speak():
    queue.load_definitions()
    attempt_with(heartbeat_due_at=ago(minutes=5), reap_not_before=now())
    reaper = PeriodicTask.objects.create(name="reaper", interval_seconds=5, due_at=now(), resumed_at=ago(seconds=100))
    assert "attempt_overdue" not in seen()
    PeriodicTask.objects.filter(pk=reaper.pk).update(resumed_at=ago(seconds=121))
    assert seen()["attempt_overdue"].count == 1, "one that the reaper cannot take back counts, too"
