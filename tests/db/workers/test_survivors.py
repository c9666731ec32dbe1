"""What machines report of processes that SIGKILL does not end is told by the doctor until they report otherwise."""

from datetime import timedelta

import pytest

from factory_site.doctor.report import findings
from runs.clock import now
from tests.db.workers.wire import code
from workers.models import Pool

pytestmark = pytest.mark.django_db


def told():
    return next((each for each in findings() if each.code == "unkillable_process"), None)


def test_a_process_that_a_worker_cannot_end_is_an_anomaly_until_it_has_ended(worker):
    """PO-S20: unkillable_process"""
    worker.hello(health={"unkillable": []})
    assert told() is None
    worker.hello(health={"unkillable": [4711]}, blockedReason="unkillable_process")
    row = told()
    assert row is not None
    assert (row.text, row.count, row.examples) == ("pid 4711 on lab survives SIGKILL", 1, ("4711",))
    assert row.mend == ("see on lab what it waits for: ps -o pid,stat,wchan,args -p 4711; if it stays, reboot lab")
    worker.hello(health={"unkillable": []})
    assert told() is None


def test_what_supervisor_and_workers_of_one_machine_report_is_one_row(worker):
    """PO-S20: unkillable_process"""
    worker.hello(health={"unkillable": [4711]})
    worker.pool(unkillable=[4712, 4711])
    row = told()
    assert row is not None
    assert (row.text, row.count) == ("pids 4711, 4712 on lab survive SIGKILL", 2)
    worker.post("/worker/v1/bye", {"reason": "drained"})
    row = told()
    assert row is not None
    assert row.count == 2, "the supervisor has seen both"
    Pool.objects.update(seen_at=now() - timedelta(seconds=31))
    assert told() is None, "nobody of that machine is heard any more, which other rows tell"


@pytest.mark.parametrize("pids", ["4711", [0], ["4711"], [-1]])
def test_what_is_no_list_of_pids_is_refused_by_its_field(worker, pids):
    for answer in (worker.hello(health={"unkillable": pids}), worker.pool(unkillable=pids)):
        assert code(answer) == "malformed"
        assert "unkillable" in answer.json()["error"]["details"]["path"]
