"""Machines whose clocks are an hour off: only what the control plane's clock says decides."""

from pathlib import Path

from tests.process.faults import aftermath
from tests.process.system import System, wait_for

pytestmark = [aftermath.needs_git, aftermath.needs_datefudge]
PULLS = ("acme/shop#1", "acme/shop#2")
HOUR = 3_600_000  # milliseconds


def test_workers_whose_clocks_are_an_hour_early_and_late_finish_their_runs(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.serve()
        system.work(1, "--max-runs", "1", wrap=aftermath.shifted("1 hour"))
        system.work(2, "--max-runs", "1", wrap=aftermath.shifted("1 hour ago"))

        def skews() -> list[int]:
            return sorted(round(each["clockSkewMs"] / HOUR) for each in system.get("/api/v1/workers")["items"])

        wait_for("workers and what their clocks show", lambda: skews() == [-1, 1])
        aftermath.submit(system, *PULLS)
        aftermath.assert_settled(system, *PULLS)
        runs = [aftermath.verify_run(system, run["runId"]) for key in PULLS for run in system.pull(key)["runs"]]
        assert [len(run["attempts"]) for run in runs] == [1, 1], "nobody was taken for late or silent"
        assert len({run["attempts"][0]["worker"] for run in runs}) == 2
