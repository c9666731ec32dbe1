"""GitHub that fails, hangs, breaks off, answers with something else, moves under a decision, or is away for long."""

from pathlib import Path

from tests.process.faults import aftermath
from tests.process.system import System, wait_for

pytestmark = aftermath.needs_git
PULL = "acme/shop#1"
QUERY = "graphql:Pulls"  # what every look reads
SHORT_WAITS = {
    "FACTORY_REVIEW_WAIT_TIMEOUT": "PT10S",
    "FACTORY_MERGEABLE_WAIT_TIMEOUT": "PT6S",
    "FACTORY_MERGEABLE_REPOLL_INTERVAL": "PT1S",
    "FACTORY_MAX_MERGE_STALL_ROUNDS": "1",
}
AWAY_SECONDS = 16.0  # longer than each of them


def test_answers_that_fail_hang_break_off_or_are_no_json_are_asked_for_again(tmp_path: Path) -> None:
    """GH-S25: a clone that breaks off is made again in the same attempt; what took effect unseen is read back."""
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.fault("fail_next", op="git:refs", status=502)
        system.fault("cut_git")
        system.fault("fail_next", op="get_repository", status=502)
        system.fault("hang_next", op="request_review", seconds=3)
        system.fault("shorten_next", op="reply")
        system.fault("garble_next", op="resolve")
        system.fault("shorten_next", op="merge")
        system.serve()
        system.work()
        aftermath.submit(system, PULL)
        wait_for("request of a review", lambda: system.fault_struck("hang_next"))
        system.fault("fail_next", op=QUERY, status=502, times=2)
        system.fault("cut_next", op=QUERY)
        system.fault("garble_next", op=QUERY)
        aftermath.assert_settled(system, PULL)
        [run] = system.pull(PULL)["runs"]
        assert len(aftermath.verify_run(system, run["runId"])["attempts"]) == 1


def test_a_push_between_the_read_and_the_merge_call_is_reviewed_before_it_lands(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("pushed"), **aftermath.FAST) as system:
        push = {"repo": "acme/shop", "branch": "feat/one", "files": {"more.txt": "More\n"}, "by": "dev"}
        system.fault("race", op="merge", then={"verb": "push", "args": push})
        system.serve()
        system.work()
        aftermath.submit(system, PULL)
        aftermath.assert_settled(system, PULL, merges=2)
        pull = system.pull(PULL)
        assert system.content("acme/shop", "main", "more.txt") == "More\n"
        assert [attempt["reason"] for attempt in pull["mergeAttempts"]] == ["landed", "head_modified"]
        shown = system.simulator("state")["repositories"]["acme/shop"]["pulls"]["1"]
        reviewed = {review["commit"] for review in shown["reviews"]}
        assert pull["headSha"] in reviewed, "what somebody pushed was reviewed"


def test_a_forge_that_is_away_for_longer_than_every_timeout_asks_nobody_and_loses_nothing(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("away"), **aftermath.FAST, **SHORT_WAITS) as system:
        system.serve()
        system.work()
        aftermath.submit(system, PULL)
        wait_for("request of a review", lambda: system.simulator("log")["counts"].get("request_review"))
        system.fault("fail_next", op=None, status=503, times=-1)
        begun = system.fault_struck("fail_next")
        aftermath.holds(
            "a person was asked about time in which nothing could be read",
            lambda: system.pull(PULL)["state"] != "escalated",
            seconds=AWAY_SECONDS,
        )
        assert system.fault_struck("fail_next") > begun, "it was asked meanwhile"
        system.simulator("faults", {"cease": "fail_next"})
        aftermath.assert_settled(system, PULL)
