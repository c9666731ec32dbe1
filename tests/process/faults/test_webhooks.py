"""Webhooks are hints: lost, doubled, late, out of order, replayed and forged ones change no outcome."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import requests

from tests.process.faults import aftermath
from tests.process.system import System, wait_for

pytestmark = aftermath.needs_git
ELSEWHERE = {"full_name": "acme/elsewhere", "owner": {"login": "acme"}, "name": "elsewhere"}
PULLS = ("acme/shop#1", "acme/shop#2", "acme/shop#3")


def deliver(system: System, body: bytes, number: str, *, secret: str | None = None) -> requests.Response:
    """Post one delivery as GitHub does, signed with the system's secret or another one."""
    digest = hmac.new((secret or system.secret).encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": number,
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    return requests.post(f"{system.url}/hooks/github", data=body, headers=headers, timeout=15)


def deliveries(system: System) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = system.simulator("state")["deliveries"]
    return found


def test_with_every_webhook_lost_polling_brings_each_pull_request_to_its_end(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.fault("lose_hooks", n=-1)
        system.serve()
        system.work()
        aftermath.submit(system, PULLS[0])
        aftermath.assert_settled(system, PULLS[0])
        assert not any(each["status"] for each in deliveries(system)), "none arrived"


def test_doubled_late_shuffled_replayed_and_forged_webhooks_do_nothing_twice(tmp_path: Path) -> None:
    """GH-S27: what is about a repository that nobody tracks wakes nothing either."""
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        system.serve()
        before = len(deliveries(system))  # what was sent while nobody listened
        system.fault("double_hooks")
        system.fault("shuffle_hooks", seed=7)
        system.fault("delay_hooks", seconds=0.5)
        system.work()
        aftermath.submit(system, PULLS[0], PULLS[1])
        about = {"full_name": "acme/shop", "owner": {"login": "acme"}, "name": "shop"}
        body = json.dumps({"action": "synchronize", "number": 1, "repository": about}).encode()
        first, again = deliver(system, body, "replayed-1"), deliver(system, body, "replayed-1")
        assert (first.status_code, first.json()["duplicate"]) == (200, False)
        assert (again.status_code, again.json()["duplicate"], again.json()["woken"]) == (200, True, 0)
        forged = deliver(system, body, "forged-1", secret="guessed")
        assert (forged.status_code, forged.json()["error"]["code"]) == (401, "bad_signature")
        after = deliver(system, body, "forged-1")
        assert after.json()["duplicate"] is False, "a refused delivery leaves no trace that the true one would meet"
        untracked = json.dumps({"action": "synchronize", "number": 1, "repository": ELSEWHERE}).encode()
        ignored = deliver(system, untracked, "untracked-1")
        assert (ignored.status_code, ignored.json()["woken"]) == (200, 0)
        aftermath.assert_settled(system, *PULLS[:2])
        wait_for("last delivery", lambda: all(each["status"] for each in deliveries(system)[before:]))
        assert {each["status"] for each in deliveries(system)[before:]} == {200}
        assert not [each for each in system.simulator("log")["requests"] if "elsewhere" in each["path"]]
