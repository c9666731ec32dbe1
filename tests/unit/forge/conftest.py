from collections.abc import Callable, Iterator

import pytest

from tests.unit.forge.stub import Script, Stub


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
