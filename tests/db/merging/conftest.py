"""One strict world for each test, with a repository that has no reviewer, so that convergence is one agent's turn."""

import pytest
from pydantic import SecretStr

from fixtures.simulator import ManualClock, Simulator
from runs.policy import policy_forget
from tests import queue_driver
from tests.db.merging.stage import MergeStage


@pytest.fixture
def world(tmp_path):
    with Simulator(tmp_path / "forge", clock=ManualClock()) as sim:
        yield sim


def stage_on(world, settings, tmp_path):
    """The product pointed at the world; a generator, for fixtures with and without threads."""
    settings.FACTORY = settings.FACTORY.model_copy(
        update={
            "home": tmp_path,
            "github_api_url": world.api_url,
            "stated_graphql_url": world.graphql_url,
            "github_server_url": world.server_url,
            "github_token": SecretStr(world.token),
        }
    )
    on_stage = MergeStage(world, settings, tmp_path / "policy.yaml")
    on_stage.policy("reviewers: []\n")
    queue_driver.load_definitions()
    yield on_stage
    policy_forget()


@pytest.fixture
def stage(db, world, settings, tmp_path):
    del db
    yield from stage_on(world, settings, tmp_path)
