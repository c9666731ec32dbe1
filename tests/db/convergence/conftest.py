"""One strict world for each test, and the product's settings pointed at it."""

import pytest
from pydantic import SecretStr

from fixtures.simulator import ManualClock, Simulator
from runs.policy import policy_forget
from tests import queue_driver
from tests.db.convergence.stage import Stage

NO_SCOPE_CHECK = "convergence: {scopeCheck: never}\n"  # what passes the gate has converged


def stage_on(settings, folder, policy=NO_SCOPE_CHECK):
    """The stage in a world of its own below the folder, under this policy of the site."""
    (folder / "policy.yaml").write_text(policy)
    settings.FACTORY = settings.FACTORY.model_copy(update={"home": folder})
    policy_forget()
    with Simulator(folder, clock=ManualClock()) as sim:
        settings.FACTORY = settings.FACTORY.model_copy(
            update={
                "github_api_url": sim.api_url,
                "stated_graphql_url": sim.graphql_url,
                "github_server_url": sim.server_url,
                "github_token": SecretStr(sim.token),
            }
        )
        queue_driver.load_definitions()
        yield Stage(sim)
    policy_forget()


@pytest.fixture
def stage(db, tmp_path, settings):
    del db
    yield from stage_on(settings, tmp_path)


@pytest.fixture
def policy_file(settings, tmp_path):
    """Write the site's policy for this test."""
    settings.FACTORY = settings.FACTORY.model_copy(update={"home": tmp_path})

    def write(text):
        (tmp_path / "policy.yaml").write_text(text)
        policy_forget()

    yield write
    policy_forget()
