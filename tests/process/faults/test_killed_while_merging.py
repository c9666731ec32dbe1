"""kill -9 of the control plane after GitHub merged and before anybody noted it."""

from pathlib import Path

from tests.process.faults import aftermath
from tests.process.system import System, wait_for

pytestmark = [aftermath.needs_git, aftermath.needs_datefudge]
PULL = "acme/shop#1"
AWAY = "65 seconds"  # longer than a delivery in hand is kept for a process that died


def test_a_merge_whose_answer_nobody_heard_is_read_back_and_never_sent_again(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.fault("hold_answer", op="merge")
        serving = system.serve()
        system.work()
        aftermath.submit(system, PULL)
        wait_for("merge at GitHub", lambda: system.fault_struck("hold_answer"))
        assert system.pull(PULL)["state"] == "merging"
        serving.kill_tree()
        system.simulator("faults", {"release": "merge"})
        system.serve(wrap=aftermath.shifted(AWAY))  # as if the machine had come back a minute later
        aftermath.assert_settled(system, PULL)
        assert "One" in system.content("acme/shop", "main", "one.txt")
