"""Who a repository and a pull request are, whatever they are called, and when one of them counts as gone."""

import pytest

from convergence.forge.facts import Profile
from convergence.forge.reading import read_pull
from convergence.forge_access import forge_client, pull_ref
from convergence.models import ForgeSnapshot, HeadSeen, PullRequest, Repository, RepositoryAlias
from convergence.selectors.lookup import pull_named
from convergence.services.cancel import pull_cancel
from convergence.services.identity import pull_seen, snapshot_kept
from runs.clock import now
from runs.flows.move import EFFECT_TOPIC
from runs.flows.registry import flow_type
from runs.models import HumanTask, Outbox, Run
from runs.outbox.write import outbox_add
from tests.db.convergence.stage import REPO, waiting

WRITING = ("request_review", "reply", "resolve", "comment", "file_comment", "merge", "update_branch")


def test_a_repository_is_found_by_its_number_after_a_rename_and_a_new_one_of_that_name_is_another(stage):
    """GH-S11, GH-H12."""
    waiting(stage, auto_merge=False)
    first = stage.pull
    number = first.repository.forge_id
    stage.sim.verbs.rename(REPO, "store")
    stage.look()
    assert stage.pull.key == "acme/store#1"
    assert RepositoryAlias.objects.get().name == "shop"
    assert pull_named("acme", "shop", 1) == first
    assert stage.submit(stage.sim.world.pull("acme/store#1")).already_running

    newcomer = stage.sim.verbs.add_repository(REPO)
    stage.submit(stage.sim.verbs.add_pull(REPO, "feat/new", files={"b.py": "b = 1\n"}))
    second = PullRequest.objects.exclude(pk=first.pk).get()
    assert (second.repository.forge_id, newcomer.id != number) == (newcomer.id, True)
    assert pull_named("acme", "shop", 1) == second, "a name means the repository that has it now"
    assert pull_named("acme", "store", 1) == first
    for _ in range(3):
        stage.look()
        stage.sim.verbs.rename("acme/store", "depot")
        stage.sim.verbs.rename(REPO, "store")
        stage.look()
        stage.sim.verbs.rename("acme/store", "shop")
        stage.sim.verbs.rename("acme/depot", "store")
    stage.look()
    kept = {row.pk: row.forge_id for row in Repository.objects.all()}
    assert kept == {first.repository_id: number, second.repository_id: newcomer.id}


def test_a_reading_that_tells_nothing_new_costs_one_write(stage, django_assert_num_queries):
    pull = stage.begun()
    row = stage.pull

    def read():
        return read_pull(forge_client(), Profile.ALIVE, pull_ref(row))

    for _ in range(2):
        facts = read()
        pull_seen(row, facts, now())
        snapshot_kept(row, facts)
    at = now()  # PostgreSQL is asked for it
    with django_assert_num_queries(1):
        pull_seen(row, facts, at)
        snapshot_kept(row, facts)
    kept = ForgeSnapshot.objects.get(pull=row, profile=Profile.ALIVE)
    assert (kept.observed_at, kept.facts["head_sha"]) == (facts.observed_at, pull.head_sha)
    stage.push()
    pull_seen(row, read(), now())
    assert HeadSeen.objects.filter(pull=row, sha=pull.head_sha).exists()


def missed(stage, times):
    for _ in range(times):
        stage.look()


def test_two_answers_that_it_is_not_there_mean_nothing_when_it_is_found_again(stage):
    """GH-S13, GH-H6."""
    stage.begun()
    pull = stage.sim.world.pull(f"{REPO}#1")
    stage.sim.world.nodes.pop(pull.node_id)
    missed(stage, 2)
    assert stage.pull.missing_count == 2
    stage.passes(minutes=11)
    stage.sim.world.keep(pull)
    stage.look()
    assert (stage.pull.missing_count, stage.flow.state) == (0, "review_round")
    assert not HumanTask.objects.exists()


def test_it_is_gone_after_three_answers_over_ten_minutes_and_an_outage_counts_for_none(stage):
    """GH-S13, GH-H6."""
    stage.begun()
    pull = stage.sim.world.pull(f"{REPO}#1")
    stage.sim.world.nodes.pop(pull.node_id)
    missed(stage, 2)
    stage.passes(minutes=11)
    stage.sim.faults.fail_next("graphql:Pulls", 500, times=2)
    missed(stage, 2)
    assert stage.flow.state == "review_round", "two answers and two failures are no three answers"
    missed(stage, 1)
    assert stage.edges[-1] == "unreachable"
    assert HumanTask.objects.get().state == "open"


def test_a_head_in_a_fork_is_worked_on_in_the_fork_and_unknown_when_the_fork_is_gone(stage):
    """GH-S14: after three looks over ten minutes a person is asked."""
    stage.pull_on_forge()
    fork = stage.sim.verbs.fork(REPO, "contributor")
    stage.submit(stage.sim.verbs.add_pull(REPO, "fix", files={"b.py": "b\n"}, fork=fork))
    stage.settle()
    document = Run.objects.get().spec_row.document
    assert document["workspace"]["headRepository"] == "contributor/shop"
    assert (stage.flow.state, stage.pull.head_sha != "") == ("review_round", True)
    stage.sim.verbs.delete_repository(fork)
    missed(stage, 2)
    assert (stage.pull.head_sha, stage.flow.state) == ("", "review_round")
    stage.passes(minutes=11)
    missed(stage, 1)
    assert stage.edges[-1] == "unreachable"


@pytest.mark.parametrize("ended", ["cancelled", "newer"])
def test_no_write_of_what_has_ended_leaves(stage, ended):
    """GH-H10: each kind of effect is dropped at its fence, right before the call."""
    waiting(stage, auto_merge=False)
    row = stage.flow
    pull_cancel(pull=stage.pull, actor="operator:ann")
    if ended == "newer":
        stage.submit(stage.sim.world.pull(f"{REPO}#1"))
        assert stage.flow.generation == 2
    begun = {name: stage.sim.log.count(name) for name in WRITING}
    for name in flow_type("convergence").effects:
        outbox_add(
            topic=EFFECT_TOPIC,
            key=f"late:{name}",
            stream=f"late:{name}",
            payload={"flow": "convergence", "row": row.pk, "generation": 1, "log": row.entry_log, "effect": name,
                     "arguments": {}},
        )  # fmt: skip
    stage.effects()
    late = Outbox.objects.filter(key__startswith="late:")
    assert late.count() >= 3
    assert all(each.observed == {"dropped": "generation_ended"} for each in late)
    assert {name: stage.sim.log.count(name) for name in WRITING} == begun
