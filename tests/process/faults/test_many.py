"""More than one of what there should be one of: pollers, and control planes on one data folder."""

import os
from pathlib import Path

from tests.process.faults import aftermath
from tests.process.system import System, free_port

pytestmark = aftermath.needs_git
PULLS = ("acme/shop#1", "acme/shop#2")
POLLERS = 10


def test_ten_pollers_at_once_do_each_thing_once(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.serve()
        lifeline, end = os.pipe()
        try:
            others = [system.poll(number, lifeline) for number in range(1, POLLERS)]  # the tenth is the server's own
            system.work()
            aftermath.submit(system, *PULLS)
            aftermath.assert_settled(system, *PULLS)
            assert [one.popen.poll() for one in others] == [None] * len(others), "none of them gave up"
        finally:
            os.close(end)
            os.close(lifeline)


def test_a_second_control_plane_on_the_same_data_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        first = system.serve()
        second = system.manage("serve", "--port", str(free_port()))
        assert second.returncode != 0
        assert f"serve already runs on {system.home} (pid {first.pid})" in second.stderr
        assert len(second.stderr.strip().splitlines()) == 1, "one line says what is wrong"
        assert system.get("/api/v1/status")["anomalies"] == []
