from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.simulator import ManualClock, Simulator
from tests.unit.forge.stub import Script, Stub
from tests.unit.forge.world import World


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Stub]]:
    """Start stubs that end with the test."""
    started: list[Stub] = []

    def start(script: Script) -> Stub:
        started.append(Stub(script))
        return started[-1]

    yield start
    for stub in started:
        stub.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A strict simulated GitHub with one open pull request, and a client that GitHub's contract holds."""
    with Simulator(tmp_path, ManualClock()) as sim:
        world = World(sim)
        yield world
        world.close()
