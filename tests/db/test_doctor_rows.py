"""Each row of the doctor that rows of the database can provoke: it appears, names its mend, and goes away after it."""

import pytest

from factory_site.doctor.report import findings
from tests import queue_driver as queue
from tests.db.doctor_rows import ROWS

pytestmark = pytest.mark.django_db


def seen():
    return {each.code: each for each in findings()}


@pytest.mark.parametrize("code", ROWS)
def test_each_fault_appears_with_its_command_and_is_gone_after_its_mend(code):
    """PO-S20, PO-H12"""
    provoke, says, mend = ROWS[code]
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
