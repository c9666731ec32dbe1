"""Short plays that lead to what chance alone seldom reaches, each from whatever the history has come to."""

from datetime import timedelta

from fixtures.simulator.rules.merging import Refusal
from merging.flow import AGENT_STATES, READY_STATES
from merging.models import HoldKind, MergeFlow
from merging.services.holds import hold_set
from runs.models import HumanTask, Outbox
from tests import queue_driver as queue
from tests.db.histories.moves import agents, code, order, people
from tests.db.histories.moves.merging import declare, made_ready
from tests.db.histories.moves.table import move


def waiting(stage, states=READY_STATES):
    """An open pull request whose merge is in one of these states, with its row; (None, None) when there is none."""
    found = dict(MergeFlow.rows().filter(state__in=states).values_list("pull__number", "id"))
    return stage.one((p, row) for p, row in stage.rows() if p.state == "OPEN" and p.number in found) or (None, None)


def decided(stage, base=""):
    """A pull request whose merge is decided and not called yet; None when none comes to it."""
    pull, _ = waiting(stage)
    if pull is None:
        return None
    if base:
        stage.sim.verbs.edit(pull, base=base)
    made_ready(stage, pull)
    for _ in range(3):
        stage.sim.clock.advance(61)
        stage.look()
        if order.merging_now() is not None:
            break
    number = order.merging_now()
    return next((each for each in stage.pulls if each.number == number and each.state == "OPEN"), None)


@move(2)
def closed_before_its_call(stage):
    if pull := decided(stage):
        stage.sim.verbs.close(pull)
        stage.passes(1)
        if stage.chance(0.5):
            stage.sim.verbs.reopen(pull)


@move(2)
def the_call_dies(stage):
    """The delivery is given up before or after the call; its outcome is found out by looking."""
    if decided(stage) is None:
        return
    if stage.chance(0.5):
        stage.sim.faults.lose_answer("merge")
        stage.deliver()
    dies(stage, "merge")
    stage.passes(121)


def dies(stage, effect):
    pending = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True, payload__effect=effect)
    pending.update(dead_at=stage.now, last_error="given up")


@move(2)
def the_base_lands_before_the_call(stage):
    """The base of a decided merge turns out to have landed itself."""
    pull, verbs = decided(stage, base="next"), stage.sim.verbs
    if pull is None or pull.base_ref != "next":
        return
    verbs.protect(pull.repo, "main")
    try:
        verbs.merge_by_hand(verbs.add_pull(pull.repo, "next", title="Next", base="main"))
    except Refusal:
        stage.note("refused")
    pull.merge_lag_left = 0
    stage.passes(1)


@move(1)
def only_people_merge(stage):
    pull, _ = waiting(stage)
    if pull is None:
        return
    declare(stage, pull.repo, pull.base_ref, '{"land": {"method": "ui"}}')
    made_ready(stage, pull)
    stage.passes(61)
    stage.passes(61)
    if stage.chance(0.7):
        declare(stage, pull.repo, pull.base_ref, "{}")


@move(1)
def an_agent_says_nothing(stage):
    """A repairing agent is at work for longer than it may."""
    pull, _ = waiting(stage, AGENT_STATES)
    if pull is None:
        return
    stage.config(agent_sla_timeout=timedelta(minutes=10))
    attempt = agents.claim()
    if attempt is None:
        return
    for sequence in (1, 2, 3, 4):
        people.allowed(stage, lambda sequence=sequence: queue.beat(attempt, "running", sequence))
        stage.passes(181)


@move(2)
def undone_when_it_lands(stage, comes_back=None):
    """What lands next is pushed away before it is proven, and perhaps comes back when a person is asked."""
    pull = decided(stage)
    if pull is None:
        return
    stage.deliver()
    if pull.state != "MERGED":
        return
    base_becomes(stage, pull, pull.merged_onto)
    stage.passes(20)
    stage.passes(901)
    if stage.chance(0.5) if comes_back is None else comes_back:
        base_becomes(stage, pull, pull.merge_commit_sha)
        stage.passes(61)
    else:
        for task in HumanTask.objects.filter(state="open", refs__reason="landing_unverified"):
            people.answer(stage, task)
        stage.passes(1)


def base_becomes(stage, pull, sha):
    """The base is pushed to go on from that commit."""
    stage.count += 1
    files = {"REWRITTEN.md": f"{stage.count}\n"}
    stage.sim.verbs.push(pull.repo, pull.base_ref, files, "Rewrite", onto=sha)


@move(2)
def the_base_must_be_fresh(stage, how=""):
    """Its plan wants the tip of the base in its branch, which works, conflicts, is refused or dies."""
    pull, row = waiting(stage)
    if pull is None:
        return
    hold_set(row, HoldKind.FRESH_BASE, group="plan:1", actor=people.PERSON)
    stage.merges.holds[pull.number].add("fresh_base")
    made_ready(stage, pull)
    stage.count += 1
    stage.sim.verbs.push(pull.repo, pull.base_ref, {"README.md": f"base {stage.count}\n"}, "Base")
    how = how or stage.one(["works", "works", "moves", "refused", "dies"])
    for _ in range(3):
        stage.sim.clock.advance(61)
        stage.look()
    if how == "moves":
        code.push(stage, pull)
    elif how == "refused":
        stage.sim.faults.fail_next("update_branch", 403, message="Resource not accessible by integration")
    elif how == "dies":
        dies(stage, "update_branch")
    stage.passes(1)
    stage.passes(121)


@move(2)
def one_that_is_waited_for_closes(stage):
    pull, other = stage.one(p for p in stage.pulls if p.state == "OPEN"), code.open_pull(stage)
    if pull is None or other in (None, pull):
        return
    stage.sim.verbs.edit(pull, body=f"Depends-on: #{other.number}")
    stage.passes(61)
    stage.sim.verbs.close(other)
    stage.passes(61)
    _dropped_by_answer(stage, "dependency_closed")


@move(2)
def two_wait_for_each_other(stage):
    pull, other = code.open_pull(stage), code.open_pull(stage)
    if pull is None or pull is other:
        return
    for one, first in ((pull, other), (other, pull)):
        stage.sim.verbs.edit(one, body=f"Depends-on: #{first.number}")
        stage.passes(61)
    stage.passes(61)
    _dropped_by_answer(stage, "dependency_cycle")


def _dropped_by_answer(stage, reason):
    task = HumanTask.objects.filter(state="open", refs__reason=reason).first()
    if task and stage.chance(0.5):
        field = next(field for field in task.form["fields"] if field["id"] == "dependency")
        variables = {"resolution": "drop_dependency", "dependency": stage.one(field["choices"])["id"]}
        people.answered(stage, task, variables)
        stage.passes(1)


@move(2)
def an_agent_asks_for_a_repeat(stage):
    """The required check fails by accident: the agent says so, and the same runs still fail."""
    pull, _ = waiting(stage)
    if pull is None:
        return
    stage.sim.verbs.protect(pull.repo, pull.base_ref, required_checks=["test"])
    stage.sim.verbs.add_check(pull, "test", "FAILURE")
    stage.passes(61)
    stage.passes(61)
    while attempt := agents.claim():
        if attempt.run.agent_ref.startswith("fix-ci"):
            agents.ends(attempt, agents.pull_of(stage, attempt), {"status": stage.one(["reattempt", "blocked"])})
    stage.passes(1)
    stage.passes(61)
    stage.sim.verbs.complete_checks(pull, stage.one(["SUCCESS", "FAILURE"]))


@move(2)
def an_agent_names_another(stage):
    """A repairing agent waits for another pull request, or pushes and then crashes."""
    pull, _ = waiting(stage, AGENT_STATES)
    other = code.open_pull(stage)
    if pull is None or other is None:
        return
    while attempt := agents.claim():
        if agents.pull_of(stage, attempt) is pull and stage.chance(0.7):
            artifact = {"status": "waiting_on_pr", "dependsOn": [f"#{other.number}"]}
            stage.merges.agent_ended(attempt.run.run_id, "", artifact, "")
            agents.ends(attempt, pull, artifact)
        elif attempt.run.agent_ref.partition("@")[0] in agents.ARTIFACTS:
            agents.work(stage, agents.pull_of(stage, attempt))
            agents.crashes(attempt)
    stage.passes(1)


@move(1)
def nobody_may_read_it(stage):
    """The repository is hidden for a quarter of an hour."""
    repository = stage.pulls[0].repo
    stage.sim.faults.forbid(repository.full_name, 404)
    for _ in range(4):
        stage.passes(301)
    stage.sim.faults.cease("forbid")


@move(1)
def an_unknown_word_stays(stage):
    pull, _ = waiting(stage)
    if pull is None:
        return
    stage.sim.verbs.say_merge_state(pull, stage.one(["SOMETHING_NEW", "UNKNOWN"]))
    for seconds in (61, 1801, 121, 121):
        stage.passes(seconds)
