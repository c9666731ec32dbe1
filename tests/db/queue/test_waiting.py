"""Why a run is waiting: one code and a sentence for every one."""

from dataclasses import replace

from runs.contract.placement import Offer
from runs.models import Run
from runs.queue.claim import run_claim
from runs.queue.waiting import Capacity, run_waiting
from tests.queue_driver import OFFER, claim, claim_request, enqueue, failed_body, publish, worker

FREE = Capacity(worker(1), OFFER, is_busy=False)
BUSY = Capacity(worker(2), OFFER, is_busy=True)


def test_every_queued_run_has_a_code_and_a_sentence():
    """RU-H14"""
    run = enqueue()
    codes = {}
    for name, workers in {"free": [BUSY, FREE], "busy": [BUSY], "none": []}.items():
        waiting = run_waiting(run, workers)
        assert waiting is not None
        assert waiting.text
        assert waiting.since == run.queued_at
        codes[name] = waiting.code
    assert codes == {"free": "next_in_line", "busy": "no_free_worker", "none": "unplaceable"}


def test_the_sentence_names_what_the_nearest_worker_lacks():
    run = enqueue(placement={"can": "infra-exec"})
    far = Capacity(worker(8), Offer(), is_busy=False)
    waiting = run_waiting(run, [far, BUSY])
    assert waiting is not None
    assert (waiting.code, waiting.text) == (
        "unplaceable",
        f"nearest worker {BUSY.worker_id} lacks label can=infra-exec",
    )
    near = replace(OFFER, labels={"can": "infra-exec"}, any_adapter=None)
    waiting = run_waiting(run, [Capacity(worker(3), near, is_busy=False), far])
    assert waiting is not None
    assert waiting.text.endswith("lacks an adapter for any")
    waiting = run_waiting(run, [Capacity(worker(3), replace(near, labels={}), is_busy=False), far])
    assert waiting is not None
    assert waiting.text.endswith("lacks an adapter for any and label can=infra-exec")


def test_a_worker_that_may_not_change_repositories_is_told_what_it_needs():
    run = enqueue(workspace={"kind": "worktree", "repository": "acme/shop", "branch": "feat"}, repository="acme/shop")
    near = replace(OFFER, workspace_kinds=frozenset({"artifacts", "ephemeral"}))
    waiting = run_waiting(run, [Capacity(worker(3), near, is_busy=False)])
    assert waiting is not None
    assert waiting.code == "unplaceable"
    assert waiting.text.startswith(f"nearest worker {worker(3)} lacks workspace kind worktree; ")
    assert "GITHUB_TOKEN" in waiting.text


def test_a_hold_says_until_when_or_for_whom():
    """RU-S20"""
    run = enqueue(exclusiveKey="branch:1:x")
    second = enqueue(exclusiveKey="branch:1:x")
    attempt = claim()
    run_claim(claim_request())
    second.refresh_from_db()
    waiting = run_waiting(second, [FREE])
    assert waiting is not None
    assert waiting.code == "exclusive"
    assert run.run_id in waiting.text
    assert run_waiting(Run.objects.get(pk=run.pk), [FREE]) is None
    publish(attempt, failed_body(attempt, "drain_timeout"))
    run.refresh_from_db()
    waiting = run_waiting(run, [FREE])
    assert waiting is not None
    assert (waiting.code, waiting.until) == ("backoff", run.available_at)
