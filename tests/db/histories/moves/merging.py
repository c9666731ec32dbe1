"""What happens around a merge: flaky checks, declarations, queues of others, words of the forge, dying effects."""

import json

from merging.models import MergeFlow
from runs.models import Outbox
from tests.db.histories.merges import PROTOCOL_FILE
from tests.db.histories.moves import agents, code, order, people, reviewing
from tests.db.histories.moves.code import open_pull
from tests.db.histories.moves.openings import opened
from tests.db.histories.moves.table import move

MOST_PULLS = 7
WORDS = ["", "", "BLOCKED", "UNKNOWN", "HAS_HOOKS", "SOMETHING_NEW"]
PROTOCOLS = [
    {},
    {"requiredChecks": ["test"]},
    {"requiredChecks": [{"name": "lint", "acceptedConclusions": ["success", "neutral"]}]},
    {"waitForChecks": True},
    {"requiredChecks": ["test"], "freshHeadRun": "ready_or_reopen"},
    {"land": {"method": "admin"}},
    {"land": {"method": "mergify_queue"}},
    {"land": {"method": "ui"}},
]
REFUSALS = [
    (405, "Base branch was modified. Review and try the merge again."),
    (405, "Pull Request is not mergeable"),
    (405, 'Required status check "test" is expected.'),
    (403, "Resource not accessible by integration"),
    (404, "Not Found"),
]
UPDATE_REFUSALS = [(403, "Resource not accessible by integration"), (422, "merge conflict between base and head")]
FLAKY = [("CANCELLED", "SUCCESS"), ("FAILURE", "SUCCESS"), ("SUCCESS", "CANCELLED"), ("SUCCESS", None)]


@move(5)
def checks_are_flaky(stage):
    """A run that is replaced by a better one, or by a worse one; two workflows with one name; a status."""
    pull, verbs = open_pull(stage), stage.sim.verbs
    if pull is None:
        return
    first, then = stage.one(FLAKY)
    verbs.add_check(pull, "test", first)
    if stage.chance(0.2):
        verbs.add_check(pull, "test", then, workflow="nightly")
    elif stage.chance(0.2):
        verbs.set_status(pull, "test", "SUCCESS" if then == "SUCCESS" else "PENDING")
    else:
        verbs.add_check(pull, "test", then)


@move(8)
def checks_are_green(stage):
    if pull := open_pull(stage):
        for name in ("test", "lint"):
            stage.sim.verbs.add_check(pull, name)


def made_ready(stage, pull):
    """Nothing of its own keeps the pull request from merging."""
    verbs = stage.sim.verbs
    verbs.edit(pull, draft=False)
    verbs.say_merge_state(pull, "")
    for name in ("test", "lint"):
        verbs.add_check(pull, name)


@move(1)
def the_base_declares(stage):
    pull = stage.pulls[0]
    text = json.dumps(stage.one(PROTOCOLS)) if stage.chance(0.85) else '{"requiredChecks": 5}'
    declare(stage, pull.repo, stage.one(["main", "main", "next"]), text)


def declare(stage, repository, branch, text):
    """The base publishes how its pull requests land."""
    stage.sim.verbs.push(repository, branch, {PROTOCOL_FILE: text}, "Declare")


@move(2)
def the_forge_says_a_word(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.say_merge_state(pull, stage.one(WORDS))


@move(3)
def a_merge_is_refused(stage):
    status, message = stage.one(REFUSALS)
    stage.sim.faults.fail_next("merge", status, times=stage.one([1, 1, 2]), message=message)


@move(1)
def an_update_is_refused(stage):
    status, message = stage.one(UPDATE_REFUSALS)
    stage.sim.faults.fail_next("update_branch", status, message=message)


@move(7)
def between_decision_and_call(stage):
    """A merge is decided, and before its call something happens that speaks against it."""
    stage.look()
    number = order.merging_now()
    pull = next((pull for pull in stage.pulls if pull.number == number), None)
    if pull is None or pull.state != "OPEN":
        return
    verbs, others = stage.sim.verbs, [other for other in stage.pulls if other is not pull]
    chosen = stage.one([
        lambda: verbs.close(pull),
        lambda: verbs.edit(pull, draft=True),
        lambda: verbs.edit(pull, base="next"),
        lambda: verbs.edit(pull, body=f"Depends-on: #{(stage.one(others) or pull).number}"),
        lambda: verbs.review(pull, "maria", "CHANGES_REQUESTED", "Not like this."),
        lambda: verbs.add_check(pull, "test", "FAILURE"),
        lambda: code.push(stage, pull),
        lambda: code.the_base_moves(stage),
        lambda: code.merged_by_hand(stage),
        lambda: order.paused_or_resumed(stage),
        lambda: order.held_or_released(stage),
        lambda: people.cancelled(stage),
        lambda: reviewing.person_reviews(stage),
        lambda: declare(stage, pull.repo, pull.base_ref, json.dumps(stage.one(PROTOCOLS))),
    ])  # fmt: skip
    stage.note(f"  line {chosen.__code__.co_firstlineno} of {pull.key}")
    chosen()
    stage.passes(stage.one([0, 5, 150]))


@move(4)
def another_pull(stage):
    """A pull request beside those that are on their way; its first review finds nothing."""
    if len(stage.pulls) >= MOST_PULLS or not stage.merging:
        return
    opened(stage, stage.pulls[0].repo)
    stage.passes(1)
    while attempt := agents.claim():
        if attempt.run.agent_ref.startswith("pr-review"):
            agents.ends(attempt, agents.pull_of(stage, attempt), {"status": "converged"})
    stage.passes(1)


@move(1)
def an_effect_dies(stage):
    """A delivery is given up; what it was to do is found out by looking."""
    waiting = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True, topic="flow.effect")
    row = stage.one(waiting.filter(payload__effect__in=["merge", "update_branch"]).order_by("id"))
    if row:
        Outbox.objects.filter(pk=row.pk).update(dead_at=stage.now, last_error="given up")


@move(2)
def the_base_is_rewritten(stage):
    """A landing is undone before it is proven, or what was undone lands after all."""
    unproven = MergeFlow.rows().filter(ended_at__isnull=True, state__in=["verifying_landing", "escalated"])
    numbers = set(unproven.values_list("pull__number", flat=True))
    pull = stage.one(pull for pull in stage.pulls if pull.number in numbers and pull.state == "MERGED")
    if pull is None:
        return
    git, tip = stage.sim.git, pull.repo.branches[pull.base_ref]
    lost = not git.contains(pull.repo.id, pull.merge_commit_sha, tip)
    stage.count += 1
    onto = pull.merge_commit_sha if lost else pull.merged_onto
    stage.sim.verbs.push(pull.repo, pull.base_ref, {"README.md": f"rewritten {stage.count}\n"}, "Rewrite", onto=onto)
