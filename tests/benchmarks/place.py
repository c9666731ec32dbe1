"""A data folder of a figure's own, Django set up on it, and the agent that its runs name."""

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AGENT = """
id: bench
version: 1
title: Benchmark
summary: Does as little as an agent can do.
kind: flow
prompt: bench.md
input: bench.json
output: bench.json
outputContract: factory.bench/v1
adapter: any
workspace: {kind: ephemeral}
limits: {timeoutSeconds: 600}
weightClass: light
"""


def home(**settings: str) -> Path:
    """Set Django up on a new data folder that lives as long as this process; the database is empty."""
    folder = Path(tempfile.mkdtemp(prefix="factory-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in list(os.environ):
        if name.startswith(("FACTORY_", "GITHUB_")) or name in {"GH_TOKEN", "PORT", "DATABASE_URL"}:
            del os.environ[name]
    os.environ |= {
        "FACTORY_HOME": str(folder),
        "FACTORY_SQLITE_SYNCHRONOUS": "full",
        "DJANGO_SETTINGS_MODULE": "factory_site.settings",
        **settings,
    }
    _write_agent(folder / "registry")
    import django

    django.setup()
    return folder


def migrate() -> None:
    """Make the tables and load the agent."""
    from django.core.management import call_command

    from runs.definitions.sync import definitions_sync

    call_command("migrate", verbosity=0)
    definitions_sync(actor="operator:bench@cli")


@contextmanager
def database(path: Path) -> Iterator[None]:
    """Let Django work on this SQLite file."""
    from django.db import connection

    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(path)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def timed(work: Callable[[], object]) -> float:
    """Seconds that the call took."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def enqueue(entry: int, **changes: Any) -> Any:
    """One queued run of the benchmark's agent."""
    from runs.queue.enqueue import run_enqueue
    from runs.queue.flow_steps import FlowStep, StepRequest, flow_step_spec

    subject = f"benchmark:{entry}"
    request = StepRequest(
        agent_id="bench",
        flow=FlowStep("bench", subject, 1, "working", entry),
        variables={"number": entry},
        correlation_id=f"flow:bench:{subject}",
    )
    return run_enqueue(spec={**flow_step_spec(request), **changes}, actor=f"flow:bench:{subject}").run


def _write_agent(folder: Path) -> None:
    for name, file, text in (
        ("agents", "bench.yaml", AGENT),
        ("prompts", "bench.md", "Write {} to the file that AGENT_RESULT_FILE names.\n"),
        ("schemas", "bench.json", '{"type": "object"}\n'),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_text(text)
