"""Commits, bases, checks and queues: what happens to the code of a pull request."""

from fixtures.simulator.rules.merging import Refusal
from tests.db.histories.moves.table import move

CONCLUSIONS = ["SUCCESS", "SUCCESS", "SUCCESS", "FAILURE", "CANCELLED", None]


def open_pull(stage):
    return stage.one(pull for pull in stage.pulls if pull.state == "OPEN")


def file_of(pull):
    return f"{pull.head_ref.replace('/', '-')}.py"


def push(stage, pull, *, onto=None, path=None):
    """A commit on the branch that no agent of the product made; return its sha."""
    stage.count += 1
    files = {path or file_of(pull): f"total = {stage.count}\n"}
    return stage.sim.verbs.push(pull.repo, pull.head_ref, files, f"Work {stage.count}", by="dev", onto=onto)


@move(3)
def somebody_pushes(stage):
    if pull := open_pull(stage):
        push(stage, pull)


@move(2)
def somebody_force_pushes(stage):
    if pull := open_pull(stage):
        push(stage, pull, onto=pull.repo.branches[pull.base_ref])


@move(3)
def the_base_moves(stage):
    pull = open_pull(stage)
    if pull:
        stage.count += 1
        path = stage.one(["README.md", "README.md", file_of(pull)])
        base = stage.sim.verbs.push
        base(pull.repo, pull.base_ref, {path: f"base {stage.count}\n"}, f"Base {stage.count}")


@move(16)
def checks_run(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.add_check(pull, stage.one(["test", "test", "lint"]), stage.one(CONCLUSIONS))


@move(10)
def checks_end(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.complete_checks(pull, stage.one(["SUCCESS", "SUCCESS", "FAILURE"]))


@move(1)
def retargeted(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.edit(pull, base=stage.one(["main", "next"]))


@move(1)
def repository_renamed(stage):
    repository = stage.pulls[0].repo
    stage.count += 1
    stage.sim.verbs.rename(repository, f"acme/shop-{stage.count}")


@move(2)
def drafted_or_ready(stage):
    if pull := open_pull(stage):
        stage.sim.verbs.edit(pull, draft=not pull.draft)


@move(1)
def closed(stage):
    if (pull := open_pull(stage)) and stage.chance(0.3):
        stage.sim.verbs.close(pull)


@move(2)
def reopened(stage):
    if pull := stage.one(pull for pull in stage.pulls if pull.state == "CLOSED"):
        stage.sim.verbs.reopen(pull)


@move(1)
def merged_by_hand(stage):
    pull = open_pull(stage)
    if pull and stage.chance(0.3):
        try:
            stage.sim.verbs.merge_by_hand(pull)
        except Refusal:
            stage.note("refused")


@move(1)
def rules_change(stage):
    repository = stage.pulls[0].repo
    rules = stage.one([{}, {"required_checks": ["test"]}, {"strict": True}, {"approvals": 1}, {"merge_queue": True}])
    stage.sim.verbs.protect(repository, **rules)
