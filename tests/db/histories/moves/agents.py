"""Agents of every kind: claims, pushes, verdicts, crashes, silence."""

import json

from runs.contract.canonical import document_hash
from runs.models import Attempt, RunSpec
from runs.queue.claim import ClaimedRun, run_claim
from tests import queue_driver as queue
from tests.db.histories.moves.code import file_of, open_pull
from tests.db.histories.moves.table import move

QUESTIONS = ["Which total is right?", "Should tax be included?"]
FAILURES = ["agent_exit", "timeout", "agent_exit", "policy_denied"]


def claim():
    """The next run in line, None when there is none."""
    claimed = run_claim(queue.claim_request())
    return claimed.attempt if isinstance(claimed, ClaimedRun) else None


def given(attempt):
    return json.loads(RunSpec.objects.get(run=attempt.run).canonical)["input"]


def pull_of(stage, attempt):
    number = int(attempt.run.subject.rpartition(":")[2])
    return next(pull for pull in stage.pulls if pull.number == number)


@move(5)
def claimed(_stage):
    if attempt := claim():
        queue.beat(attempt, "running", 1)


@move(26)
def an_agent_works(stage):
    attempt = (
        stage.one(Attempt.objects.filter(finished_at__isnull=True, run__state="running").order_by("id")) or claim()
    )
    if attempt is None:
        return
    agent = attempt.run.agent_ref.partition("@")[0]
    if stage.chance(0.1):
        crashes(attempt, stage.one(FAILURES))
        return
    if stage.chance(0.04):
        queue.publish(attempt, queue.refused_body(attempt))
        return
    pull = pull_of(stage, attempt)
    before = set(stage.own)
    artifact = ARTIFACTS[agent](stage, attempt, pull)
    pushed = next(iter(stage.own - before), "")
    stage.merges.agent_ended(attempt.run.run_id, agent, artifact, pushed)
    ends(attempt, pull, artifact, pushed=pushed)


def crashes(attempt, why="agent_exit"):
    """The agent ends without a word."""
    queue.beat(attempt, "running", 2)
    queue.publish(attempt, queue.failed_body(attempt, why))


def ends(attempt, pull, artifact, *, pushed=""):
    """Publish the artifact with the evidence that the worker reads in its workspace."""
    body = queue.completed_body(attempt, artifact)
    began = given(attempt).get("headSha") or pull.head_sha
    workspace = {
        "branch": pull.head_ref,
        "baseSha": began,
        "headSha": pushed or began,
        "remoteSha": pushed or began,
        "pushed": True,
        "clean": True,
        "commits": 0,
    }
    evidence = {"workspace": workspace}
    body["result"] |= {"evidence": evidence, "evidenceHash": document_hash(evidence)}
    queue.publish(attempt, body)


def work(stage, pull, *, onto=None, path=None):
    """A commit by an agent of the product."""
    if pull.state != "OPEN":
        return
    stage.count += 1
    files = {path or file_of(pull): f"total = {stage.count}\n"}
    stage.own.add(stage.sim.verbs.push(pull.repo, pull.head_ref, files, f"Agent {stage.count}", onto=onto))


def _reviewed(stage, attempt, pull):
    status = stage.one(["converged"] * 8 + ["addressed"] * 5 + ["needs_input", "blocked", "nonsense"])
    if status == "addressed" and stage.chance(0.8):
        work(stage, pull)
    backlog = given(attempt).get("backlog") or {}
    threads = [
        {"id": each["id"], "reply": "Done.", "resolve": stage.chance(0.85)} for each in backlog.get("threads", [])
    ]
    acks = [
        {"id": each["id"], "verdict": stage.one(["applied", "declined"]), "note": "Seen."}
        for each in backlog.get("advisories", [])
        if stage.chance(0.8)
    ]
    question = stage.one([*QUESTIONS, ""]) if status in ("needs_input", "blocked") else ""
    return {"status": status, "summary": "As asked.", "question": question, "threads": threads, "acks": acks}


def _checks_fixed(stage, attempt, pull):
    del attempt
    status = stage.one(["fixed", "fixed", "fixed", "reattempt", "blocked", "waiting_on_pr"])
    if status == "fixed" and stage.chance(0.8):
        work(stage, pull)
    return _answer(stage, pull, status)


def _rebased(stage, attempt, pull):
    del attempt
    status = stage.one(["rebased", "rebased", "rebased", "blocked", "waiting_on_pr"])
    if status == "rebased" and pull.state == "OPEN" and stage.chance(0.85):
        work(stage, pull, onto=pull.repo.branches[pull.base_ref])
    return _answer(stage, pull, status)


def _answer(stage, pull, status):
    other = open_pull(stage) or pull
    named = [f"#{other.number}"] if status == "waiting_on_pr" else []
    return {"status": status, "question": stage.one([*QUESTIONS, ""]), "summary": "Tried.", "dependsOn": named}


def _scope(stage, attempt, pull):
    del attempt, pull
    reason = stage.one(["Taxes are left out.", "Returns are left out."])
    return {"scopeBlocked": True, "scopeBlockReason": reason} if stage.chance(0.3) else {"scopeBlocked": False}


ARTIFACTS = {"pr-review": _reviewed, "fix-ci": _checks_fixed, "rebase": _rebased, "scope-classify": _scope}
