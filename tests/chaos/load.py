"""A steady stream of runs: enqueued by key, repeated when nobody answered, some of them cancelled."""

from __future__ import annotations

import contextlib
import random
import threading
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from tests.chaos.field import Field

OUTSTANDING = 24  # enqueued and not at rest, at most
PAUSE = 0.25  # seconds between two enqueues
SECONDS = [0, 0.2, 1, 3, 8]  # that an agent works
FAILS, LEAVES_A_CHILD, ASKED_TWICE, CANCELLED = 0.1, 0.2, 0.2, 0.05  # shares of the runs
LOOKED_AT = 0.2  # share of the open runs that a turn looks at
REST = frozenset({"completed", "refused", "failed", "timed_out", "cancelled"})


class Load:
    """Enqueues in a thread of its own. ``runs``: idempotency key → run id; ``None`` while no answer was heard."""

    def __init__(self, field: Field, seed: int) -> None:
        self.runs: dict[str, str | None] = {}
        self.inputs: dict[str, dict[str, Any]] = {}
        self.cancelled = 0
        self._field = field
        self._rng = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._flow, daemon=True)
        self._open: set[str] = set()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Enqueue nothing new, and repeat until each key has its run."""
        self._stop.set()
        self._thread.join(60)

    def repeat_unheard(self) -> bool:
        """Ask again for the keys whose answer was lost; whether each has its run now."""
        for key in [key for key, run in self.runs.items() if run is None]:
            self._enqueue(key)
        return all(self.runs.values())

    def _flow(self) -> None:
        while not self._stop.wait(PAUSE):
            with contextlib.suppress(requests.RequestException, AssertionError):
                self._turn()

    def _turn(self) -> None:
        rng = self._rng
        self._open -= {run for run in list(self._open) if rng.random() < LOOKED_AT and self._at_rest(run)}
        if len(self._open) < OUTSTANDING:
            key = f"storm-{len(self.runs)}"
            self.inputs[key] = {
                "key": key,
                "seconds": rng.choice(SECONDS),
                "exit": 1 if rng.random() < FAILS else 0,
                "orphan": rng.random() < LEAVES_A_CHILD,
                "chatter": rng.choice([0, 1_000, 100_000]),
            }
            self.runs[key] = None
            self._enqueue(key)
            if rng.random() < ASKED_TWICE:
                self._enqueue(key)
        if self._open and rng.random() < CANCELLED:
            run = rng.choice(sorted(self._open))
            answer = self._field.system.call("POST", f"/api/v1/runs/{run}/cancel", {"reason": "the storm"})
            self.cancelled += answer.status_code == requests.codes.ok

    def _enqueue(self, key: str) -> None:
        system = self._field.system
        headers = {"Authorization": f"Bearer {system.token}", "Idempotency-Key": key}
        body = {"agent": "chaos@1", "input": self.inputs[key]}
        answer = requests.post(f"{system.url}/api/v1/runs", json=body, headers=headers, timeout=10)
        if answer.status_code != requests.codes.accepted:
            assert answer.status_code >= requests.codes.server_error, answer.text
            return
        run = str(answer.json()["runId"])
        assert self.runs[key] in {None, run}, f"{key} has two runs"
        self.runs[key] = run
        self._open.add(run)

    def _at_rest(self, run: str) -> bool:
        answer = self._field.system.call("GET", f"/api/v1/runs/{run}")
        return answer.ok and answer.json()["state"] in REST
