"""How a history begins: the rules of the site and of the repository, and one to three pull requests."""

import json
from datetime import timedelta
from itertools import pairwise

from convergence.models import ConvergenceFlow, PullRequest
from merging.services.lanes import Exclusion, Task, lanes_set
from tests.db.histories.moves import weights
from tests.db.histories.moves.agents import claim, ends, pull_of
from tests.db.histories.moves.openings import opened
from tests.db.histories.watch import Watch

REPO = "acme/shop"
COPILOT = "copilot-pull-request-reviewer"
AFTER = ["foreign_push", "foreign_push", "any_push", "never"]
CHECKED: dict[str, object] = {"required_checks": ["test"]}
RULES: list[dict[str, object]] = [{}, {}, CHECKED, CHECKED, {"strict": True}]


def begin(stage, opening):
    """Make the world, the site's rules and the submissions of this history; the opening names what must be so."""
    stage.count = 0
    stage.watch = Watch(stage)
    stage.site = opening.site
    merging = opening.edge.startswith("merge:") if opening.edge else stage.chance(0.6)
    stage.merging = told(stage, "merging", [merging])  # else it begins with the first review
    stage.moves = weights(merging=stage.merging)
    _site(stage)
    verbs = stage.sim.verbs
    files = {"README.md": "shop\n"}
    if told(stage, "protocol", [not opening.edge and stage.chance(0.2)]):
        fresh = stage.one([None, "ready", "reopen", "ready_or_reopen"])
        protocol = {"requiredChecks": ["test"], **({"freshHeadRun": fresh} if fresh else {})}
        files[".github/merge-protocol.json"] = json.dumps(protocol)
    repository = verbs.add_repository(REPO, files)
    verbs.push(repository, "next", {"NEXT.md": "next\n"}, "Next")
    verbs.add_bot(COPILOT, "Copilot")
    for login in ("dev", "maria"):
        verbs.add_user(login, "MEMBER")
    verbs.add_user("passer-by", "NONE")
    verbs.add_bot("lint-bot")
    free = [{}] if opening.edge else RULES
    rules = told(stage, "rules", free)
    if rules:
        verbs.protect(repository, **rules)
    if told(stage, "queue", [not opening.edge and stage.chance(0.2)]):
        verbs.enable_queue(repository)
    _pulls(stage, repository)
    if stage.merging:
        _converged(stage)


def told(stage, name, free):
    """What the opening says about the site, else one of these."""
    return stage.site[name] if name in stage.site else stage.one(free)


def _converged(stage):
    """Every agent finds nothing to do, so that the history begins with merges."""
    for _ in range(6):
        stage.passes(5)
        while attempt := claim():
            ends(attempt, pull_of(stage, attempt), {"status": "converged"})
        if not ConvergenceFlow.rows().filter(ended_at__isnull=True).exists():
            return


def _site(stage):
    reviewed = told(stage, "reviewed", [not stage.merging and not stage.chance(0.1)])
    reviewers = "[{name: copilot, adapter: copilot}]" if reviewed else "[]"
    scope = told(stage, "scope", ["never"] if stage.merging else ["never", "always", "closing"])
    skip = told(stage, "skip", ["true", "false"])
    away = told(stage, "away", ["proceed", "escalate"])
    churn = told(stage, "churn", [1, 2, 4])
    stage.policy(
        f"reviewers: {reviewers}\n"
        f"convergence: {{scopeCheck: {scope}, skipEmptyReview: {skip}, churnRounds: {churn}, "
        f"onReviewerUnavailable: {away}}}\n"
        f"merging: {{maxReturns: {told(stage, 'returns', [0, 1, 3])}, "
        f"approvalBases: {told(stage, 'approval', ['[main]' if stage.chance(0.12) else '[]'])}, "
        f"reviewAfter: {told(stage, 'after', AFTER)}, "
        f"queueTimeout: {stage.one(['PT6H', 'PT20M'])}, deleteBranches: {stage.one(['true', 'false'])}}}\n"
    )
    stage.config(
        max_rounds=told(stage, "max_rounds", [2, 3, 20]),
        max_ack_retries=told(stage, "ack_retries", [0, 1, 2]),
        max_ci_fix_rounds=told(stage, "ci_fixes", [0, 1, 3]),
        max_rebase_rounds=told(stage, "rebases", [0, 1, 3]),
        max_merge_retries=told(stage, "merge_retries", [0, 1, 5]),
        max_merge_stall_rounds=told(stage, "stall_rounds", [0, 1, 5]),
        merge_admin=told(stage, "admin", [stage.chance(0.15)]),
        agent_sla_timeout=timedelta(minutes=told(stage, "sla_minutes", [120, 120, 10])),
    )


def _pulls(stage, repository):
    most = [1, 2, 3] if stage.merging else [1, 1, 2]
    for _ in range(told(stage, "pulls", [1] if stage.site else most)):
        opened(stage, repository)
    if len(stage.pulls) > 1 and stage.chance(0.5):
        rows = {row.number: row for row in PullRequest.objects.select_related("repository")}
        tasks = [Task(str(pull.number), 0, place, rows[pull.number]) for place, pull in enumerate(stage.pulls)]
        stage.merges.edges = [(one.number, other.number) for one, other in pairwise(stage.pulls)]
        edges = [Exclusion(one.name, other.name) for one, other in pairwise(tasks)]
        lanes_set("plan:1", tasks, edges)
