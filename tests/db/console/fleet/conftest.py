"""The filled console with runs, workers and agents."""

import pytest

from tests.browser.fleet import Fleet, fill_fleet
from tests.browser.world import World


@pytest.fixture
def fleet(world: World) -> Fleet:
    return fill_fleet(world)
