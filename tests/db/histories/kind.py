"""A kind world: checks are green, agents work, people answer; whatever is on its way must land."""

from convergence.flow import FINAL_PULL_STATES
from convergence.models import ConvergenceFlow
from fixtures.simulator.rules.merging import Refusal
from merging.models import MergeFlow
from runs.models import HumanTask
from tests.db.histories.moves.agents import claim, ends, given, pull_of, work
from tests.db.histories.moves.code import push
from tests.db.histories.moves.directed import base_becomes
from tests.db.histories.moves.merging import declare, made_ready
from tests.db.histories.moves.people import answered
from tests.db.histories.moves.queues import mergify_works, the_queue_works
from tests.db.histories.resting import on_base
from tests.db.histories.watch import Broken

MOST_ROUNDS = 30
KINDEST = ("approve", "drop_dependency", "retry")


def help_along(stage):
    """Help until nothing is on its way any more; Broken when something stays."""
    repository = stage.pulls[0].repo
    for branch in ("main", "next"):
        stage.sim.verbs.protect(repository, branch)
        declare(stage, repository, branch, "{}")
    for _ in range(MOST_ROUNDS):
        left = [(pull, row) for pull, row in stage.rows() if row.state not in FINAL_PULL_STATES]
        if not left:
            return
        for pull, row in stage.rows():
            if row in [each for _, each in left]:
                _mended(stage, pull, row)
            elif pull.state == "OPEN":  # nobody drives it any more
                _landed_by_hand(stage, pull)
        _answer_all(stage)
        _work(stage)
        the_queue_works(stage, "land")
        mergify_works(stage)
        stage.passes(61)
        stage.passes(305)
        stage.watch.check()
    raise Broken("\n".join(["not landed in a kind world:", *(_told(row) for _, row in left)]))


def _told(row):
    flows = [*ConvergenceFlow.rows().filter(pull=row), *MergeFlow.rows().filter(pull=row)]
    asked = list(HumanTask.objects.filter(subject=row.subject, state="open").values_list("question", flat=True))
    states = [(f.state, getattr(f, "verdict_reason", ""), f.last_look_error) for f in flows if f.ended_at is None]
    return f"{row.key} {row.state} {states} {asked}"


def _mended(stage, pull, row):
    if pull.state == "MERGED" and not on_base(stage, pull):
        base_becomes(stage, pull, pull.merge_commit_sha)
    if pull.state != "OPEN":
        return
    made_ready(stage, pull)
    if "elsewhere/" in pull.body:
        stage.sim.verbs.edit(pull, body="Sums up.")
    dead = any(p.head_ref == pull.base_ref and p.state == "MERGED" for p in pull.repo.pulls.values())
    if pull.base_ref not in pull.repo.branches or dead:
        stage.sim.verbs.edit(pull, base="main")
    if HumanTask.objects.filter(state="open", subject=row.subject, refs__reason="conflict").exists():
        push(stage, pull, onto=pull.repo.branches[pull.base_ref])
    for review in pull.reviews:
        if review.state == "CHANGES_REQUESTED":
            stage.sim.verbs.dismiss(review)
    for thread in pull.threads:
        stage.sim.verbs.resolve(thread)


def _landed_by_hand(stage, pull):
    stage.sim.verbs.edit(pull, draft=False)
    try:
        stage.sim.verbs.merge_by_hand(pull)
    except Refusal:
        stage.sim.verbs.close(pull)


def _answer_all(stage):
    for task in HumanTask.objects.filter(state="open"):
        variables = {"answer": "Go on."}
        for field in task.form.get("fields", []):
            offered = [choice["id"] for choice in field.get("choices", [])]
            if field["id"] == "resolution":
                variables["resolution"] = next((name for name in KINDEST if name in offered), offered[0])
            elif field["id"] == "dependency":
                variables["dependency"] = offered[0]
        answered(stage, task, variables)


def _work(stage):
    """Every agent does what it is asked: reviews find nothing, checks are repaired, branches are rebased."""
    while attempt := claim():
        pull, agent = pull_of(stage, attempt), attempt.run.agent_ref.partition("@")[0]
        before = set(stage.own)
        artifact = {"fix-ci": {"status": "fixed"}, "rebase": {"status": "rebased"}}.get(agent, _reviewed(attempt))
        if agent in {"fix-ci", "rebase"}:
            work(stage, pull, onto=pull.repo.branches[pull.base_ref] if agent == "rebase" else None)
        pushed = next(iter(stage.own - before), "")
        stage.merges.agent_ended(attempt.run.run_id, agent, artifact, pushed)
        ends(attempt, pull, artifact, pushed=pushed)


def _reviewed(attempt):
    backlog = given(attempt).get("backlog") or {}
    return {
        "status": "converged",
        "threads": [{"id": each["id"], "reply": "Done.", "resolve": True} for each in backlog.get("threads", [])],
        "acks": [{"id": each["id"], "verdict": "applied", "note": "Seen."} for each in backlog.get("advisories", [])],
    }
