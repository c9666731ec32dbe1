"""Deliveries are signed, made from changes of state, and disturbed only as a fault says."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fixtures.simulator import LeftoversError, ManualClock, Simulator

SECRET = b"a secret of the test"


class Receiver(ThreadingHTTPServer):
    """Keeps what arrives; answers `status`."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        super().__init__(("127.0.0.1", 0), Handler)

    def events(self) -> list[tuple[str, str]]:
        """What arrived, in its order."""
        return [(h["x-github-event"], json.loads(b).get("action", "")) for h, b in self.got]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.end_headers()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def sim(tmp_path: Path, clock: ManualClock, receiver: Receiver) -> Iterator[Simulator]:
    url = f"http://127.0.0.1:{receiver.server_port}/hooks/github"
    with Simulator(tmp_path / "world", clock, hooks_url=url, hooks_secret=SECRET) as world:
        yield world


def arrived(sim: Simulator) -> None:
    assert sim.hooks is not None
    assert sim.hooks.drain()


def test_every_change_of_a_pull_request_is_told_signed_and_with_an_id_of_its_own(
    sim: Simulator, receiver: Receiver, pull: Any
) -> None:
    thread = sim.verbs.open_thread(pull, "app.py", 1, "Name it.")
    sim.verbs.resolve(thread)
    sim.verbs.comment(pull, "Hello.")
    sim.verbs.request_review(pull, "copilot-pull-request-reviewer")
    sim.verbs.add_check(pull, "test")
    sim.verbs.set_status(pull, "legacy", "success")
    sim.verbs.push(pull.repo, "feat/total", {"app.py": "x\n"})
    sim.verbs.merge_by_hand(pull)
    arrived(sim)
    assert receiver.events() == [
        ("push", ""),
        ("push", ""),
        ("pull_request", "opened"),
        ("pull_request_review_comment", "created"),
        ("pull_request_review", "submitted"),
        ("pull_request_review_thread", "resolved"),
        ("issue_comment", "created"),
        ("pull_request", "review_requested"),
        ("check_run", "created"),
        ("check_run", "completed"),
        ("status", ""),
        ("pull_request", "synchronize"),
        ("push", ""),
        ("push", ""),
        ("pull_request", "closed"),
    ]
    for headers, body in receiver.got:
        wanted = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        assert headers["x-hub-signature-256"] == wanted
        assert json.loads(body)["repository"]["id"] == pull.repo.id
    assert len({headers["x-github-delivery"] for headers, _ in receiver.got}) == len(receiver.got)
    assert json.loads(receiver.got[-1][1])["pull_request"]["merged_at"]


def test_deliveries_are_lost_and_nobody_repeats_them(sim: Simulator, receiver: Receiver, shop: Any) -> None:
    arrived(sim)
    receiver.got.clear()
    sim.faults.lose_hooks(2)
    for number in range(3):
        sim.verbs.push(shop, "main", {"x.txt": f"{number}\n"})
    arrived(sim)
    assert len(receiver.got) == 1
    receiver.status = 500
    sim.verbs.push(shop, "main", {"x.txt": "again\n"})
    arrived(sim)
    assert (len(receiver.got), sim.hooks and sim.hooks.deliveries[-1].status) == (2, 500)


def test_deliveries_arrive_twice_with_one_id(sim: Simulator, receiver: Receiver, shop: Any) -> None:
    arrived(sim)
    receiver.got.clear()
    sim.faults.double_hooks()
    sim.verbs.push(shop, "main", {"x.txt": "x\n"})
    arrived(sim)
    assert len(receiver.got) == 2
    assert len({headers["x-github-delivery"] for headers, _ in receiver.got}) == 1


def test_deliveries_arrive_in_another_order(sim: Simulator, receiver: Receiver, shop: Any) -> None:
    arrived(sim)
    receiver.got.clear()
    sim.faults.shuffle_hooks(seed=3)
    with sim.world.lock:
        for number in range(8):
            sim.verbs.push(shop, f"branch-{number}", {"x.txt": "x\n"})
    arrived(sim)
    order = [json.loads(body)["ref"][-1] for _, body in receiver.got]
    assert sorted(order) == list("01234567") != order


def test_deliveries_wait_for_the_clock(sim: Simulator, clock: ManualClock, receiver: Receiver, shop: Any) -> None:
    arrived(sim)
    receiver.got.clear()
    sim.faults.delay_hooks(30)
    sim.verbs.push(shop, "main", {"x.txt": "x\n"})
    clock.advance(29)
    arrived(sim)
    assert receiver.got == []
    clock.advance(1)
    arrived(sim)
    assert len(receiver.got) == 1


def test_a_wrong_signature_that_is_accepted_is_noticed(tmp_path: Path, receiver: Receiver) -> None:
    def run() -> None:
        url = f"http://127.0.0.1:{receiver.server_port}/hooks/github"
        with Simulator(tmp_path / "other", ManualClock(), hooks_url=url, hooks_secret=SECRET) as sim:
            assert sim.hooks is not None
            sim.hooks.send("ping", {"zen": "x"}, secret=b"another secret")
            arrived(sim)

    with pytest.raises(LeftoversError, match="wrong signature was answered 200"):
        run()
    receiver.status = 401
    (tmp_path / "other").rename(tmp_path / "first")
    run()
