"""Why a pull request rests: each question about a merge must have its reason in the world, each wait its end."""

from convergence.flow import FINAL_PULL_STATES
from fixtures.simulator.rules.merging import mergeability
from merging.models import MergeFlow
from runs.models import HumanTask

READY_WORDS = {"CLEAN", "HAS_HOOKS", "UNSTABLE", "BEHIND"}
WHEN_NOT_READY = {"checks_failing", "conflict", "agent_question", "agent_sla", "stalled"}


def unfounded(stage):
    """Questions about merges whose reason is gone from the world, in words."""
    found = []
    for pull, row in stage.rows():
        for task in HumanTask.objects.filter(subject=row.subject, state="open", kind="merge_escalation"):
            wrong = _unfounded(stage, pull, row, task.refs.get("reason"))
            if wrong:
                found.append(f"{pull.key} asks {task.refs.get('reason')}, and {wrong}")
    return found


def _unfounded(stage, pull, row, reason):
    if pull.state != "OPEN" and reason != "landing_unverified":
        return f"it is {pull.state}"
    flow = MergeFlow.rows().filter(pull=row).latest("generation")
    if reason in WHEN_NOT_READY and flow.asked_verdict != "ready" and _ready(stage, pull, flow):
        return "the forge would merge it"
    if reason == "draft" and not pull.draft:
        return "it is no draft"
    if reason == "dependency_closed" and not any(o.state == "CLOSED" for o in _in_the_way(stage, pull)):
        return "none that it merges after is closed"
    if reason == "dependency_cycle" and not _in_a_cycle(stage, pull):
        return "it is in no cycle"
    if reason == "dequeued" and pull.queue:
        return "it is in the queue"
    if reason == "unreachable" and pull.head_ref in pull.repo.branches:
        return "it can be read"
    if reason == "approval_required" and flow.asked_head != pull.head_sha:
        return "its head is another"
    if reason == "landing_unverified" and on_base(stage, pull):
        return "its commit is on the base"
    return ""


def _ready(stage, pull, flow):
    word = pull.merge_word or mergeability(stage.sim.world, stage.sim.git, pull)[1]
    if word not in READY_WORDS or flow.queue_failed_head == pull.head_sha:
        return False
    return not pull.draft and not list(stage.merges.about_checks(pull, pull.head_sha)) and not pull.queue


def _in_the_way(stage, pull):
    return [pull.repo.pulls[number] for number in stage.merges.in_the_way(pull)]


def _in_a_cycle(stage, pull):
    seen, frontier = set(), [pull]
    while frontier:
        for other in _in_the_way(stage, frontier.pop()):
            if other is pull:
                return True
            if other.number not in seen:
                seen.add(other.number)
                frontier.append(other)
    return False


def on_base(stage, pull):
    """Whether the base holds what landed of it."""
    tip = pull.repo.branches.get(pull.base_ref)
    landed = pull.merge_commit_sha
    return bool(pull.state == "MERGED" and landed and tip and stage.sim.git.contains(pull.repo.id, landed, tip))


def waits_for_one_at_rest(stage, pull, seen=frozenset()):
    """Whether a wait for dependencies has its reason: one that is open and itself at rest, or that nobody may read."""
    if "elsewhere/" in pull.body:
        return True
    for other in _in_the_way(stage, pull):
        if other.state != "OPEN":
            continue
        known = next((each for theirs, each in stage.rows() if theirs is other), None)
        if known is None or known.state in FINAL_PULL_STATES:
            return True  # nobody drives it
        if HumanTask.objects.filter(subject=known.subject, state="open").exists():
            return True
        if known.state == "waiting_deps" and other.number not in seen:
            return waits_for_one_at_rest(stage, other, seen | {pull.number})
    return False
