"""Five hundred idle workers on one `serve`, each with a claim that waits."""

import asyncio
import json
import random
import statistics
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks import place
from tests.benchmarks.load import CLAIM
from tests.benchmarks.system import cpu_seconds, served
from tests.benchmarks.table import Row, Size, percentile

TITLE = "Many idle workers"
WORKERS = 500
SETTLED = 10.0  # seconds until all of them wait
PICKUPS = 60


def measure(size: Size) -> list[Row]:
    """CPU of the web process while nothing comes, then the wait of runs that come one by one."""
    home = place.home()
    place.migrate()
    (home / "policy.yaml").write_text("web: {trustedProxies: [], waitSlots: 512}\n")
    with served(home) as system:
        fleet = _Fleet(system.url, system.token)
        web = system.children()["web"]
        return asyncio.run(_measured(fleet, web, size))


class _Fleet:
    """The waiting claims; ``leased`` has the instant of each claim that got a run."""

    def __init__(self, url: str, token: str) -> None:
        self._parts = urlsplit(url)
        self._token = token
        self.leased: asyncio.Queue[float] = asyncio.Queue()

    async def worker(self, number: int) -> None:
        """Claim again and again, over one connection; a worker that got a run is done."""
        reader, writer = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        body = json.dumps({**CLAIM, "waitSeconds": 25}).encode()
        while True:
            head = (
                f"POST /worker/v1/claim HTTP/1.1\r\nHost: {self._parts.netloc}\r\n"
                f"Authorization: Bearer {self._token}\r\n"
                f"X-Worker-Id: local.20260101T000000Z.{number:06x}\r\nIdempotency-Key: {uuid.uuid4()}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = await _answer(reader)
            if answer["claim"] is not None:
                self.leased.put_nowait(time.time())
                return
            await asyncio.sleep(answer["retryAfterMs"] / 1000)


async def _answer(reader: asyncio.StreamReader) -> Any:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    assert head.startswith("http/1.1 200"), head
    length = next(line for line in head.splitlines() if line.startswith("content-length:"))
    return json.loads(await reader.readexactly(int(length.partition(":")[2])))


async def _measured(fleet: _Fleet, web: Any, size: Size) -> list[Row]:
    workers = []
    for number in range(WORKERS):
        workers.append(asyncio.create_task(fleet.worker(number)))
        await asyncio.sleep(0.02)
    await asyncio.sleep(SETTLED)
    seconds = 15.0 if size.quick else 60.0
    used, begun = cpu_seconds([web]), time.monotonic()
    await asyncio.sleep(seconds)
    share = (cpu_seconds([web]) - used) / (time.monotonic() - begun)
    waits = []
    for number in range(PICKUPS // (3 if size.quick else 1)):
        committed = await asyncio.to_thread(_enqueued, number)
        waits.append((await asyncio.wait_for(fleet.leased.get(), 30) - committed) * 1000)
        await asyncio.sleep(random.uniform(0.1, 0.4))
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return [
        Row(f"{WORKERS} idle workers: CPU of the web process", share * 100, "% of a core", 15),
        Row(
            f"{WORKERS} idle workers: enqueue to claim answered, p99",
            percentile(waits, 0.99),
            "ms",
            500,
            note=f"p50 {statistics.median(waits):.0f} ms",
        ),
    ]


def _enqueued(number: int) -> float:
    place.enqueue(1_000_000 + number)
    return time.time()
