"""What openings of merges are made of: pull requests that wait for their required check, and what then comes."""

from tests.db.histories.moves import agents, directed
from tests.db.histories.moves.merging import made_ready

CHECKED: dict[str, object] = {"required_checks": ["test"]}


def looks(stage, *seconds):
    """Passes so many seconds apart."""
    for pause in seconds:
        stage.passes(pause)


def waits(stage):
    """The first pull request whose merge waits, with its row; (None, None) when none does."""
    for _ in range(4):
        pull, row = directed.waiting(stage)
        if pull is not None:
            return pull, row
        stage.passes(5)
    return None, None


def ready(stage):
    """Nothing keeps any of them from merging any more."""
    for pull in stage.pulls:
        if pull.state == "OPEN":
            made_ready(stage, pull)
    looks(stage, 5, 5, 61, 61)


def red(stage):
    """The required check of the first one fails, and is seen to."""
    waits(stage)
    stage.sim.verbs.edit(stage.pulls[0], draft=False)
    stage.sim.verbs.add_check(stage.pulls[0], "test", "FAILURE")
    looks(stage, 5, 61)


def agent_says(stage, artifact):
    """The agent that repairs the first one ends so."""
    while attempt := agents.claim():
        if agents.pull_of(stage, attempt) is stage.pulls[0]:
            stage.merges.agent_ended(attempt.run.run_id, "", artifact, "")
            agents.ends(attempt, stage.pulls[0], artifact)
    looks(stage, 1, 5)
