from dataclasses import dataclass

import pytest

from merging.decisions.questions import READY_AGAIN, Seen, reason_is_gone
from merging.facts import Verdict

OWN, OTHER = "a" * 40, "b" * 40


@dataclass
class Asked:
    asked_verdict: str = "ready"
    asked_head: str = OWN
    asked_base_sha: str = OWN
    base_ref: str = "main"


def gone(reason, *, asked=None, **seen):
    known = {"verdict": Verdict.WAITING, "head": OWN, "base": OWN, "base_ref": "main", **seen}
    return reason_is_gone(reason, asked=asked or Asked(), seen=Seen(**known))


@pytest.mark.parametrize("reason", sorted(READY_AGAIN))
def test_a_question_about_readiness_goes_when_it_is_ready(reason):
    assert gone(reason, verdict=Verdict.READY, asked=Asked(asked_verdict="blocked"))
    assert not gone(reason, verdict=Verdict.READY, asked=Asked(asked_verdict="ready"))
    for verdict in (None, Verdict.WAITING, Verdict.BLOCKED, Verdict.CONFLICT, Verdict.DRAFT):
        assert not gone(reason, verdict=verdict)


@pytest.mark.parametrize("reason", ["merge_retries_spent", "merge_refused"])
def test_a_question_about_spent_retries_goes_with_another_verdict_or_a_new_base(reason):
    assert not gone(reason, verdict=Verdict.READY)
    assert gone(reason, verdict=Verdict.READY, base=OTHER)
    assert gone(reason, verdict=Verdict.CONFLICT)
    assert not gone(reason, verdict=Verdict.WAITING, base=OTHER)
    assert not gone(reason, verdict=Verdict.READY, base=None)
    assert not gone(reason, verdict=None, base=OTHER)


def test_a_question_about_a_draft_goes_when_it_is_marked_ready():
    assert gone("draft", verdict=Verdict.WAITING)
    assert not gone("draft", verdict=Verdict.DRAFT, draft=True)
    assert not gone("draft", verdict=None)


def test_a_question_about_the_base_goes_when_it_is_retargeted():
    assert gone("dead_end_base", base_ref="other")
    assert not gone("dead_end_base")


def test_a_question_about_a_missing_pull_request_goes_with_its_head():
    assert gone("unreachable")
    assert not gone("unreachable", head=None)


def test_a_question_about_one_head_goes_with_that_head():
    assert gone("approval_required", head=OTHER)
    assert not gone("approval_required")
    assert not gone("approval_required", head=None)


@pytest.mark.parametrize(
    ("reason", "fact"), [("dependency_closed", "dependency_dead"), ("dependency_cycle", "dependency_cyclic")]
)
def test_a_question_about_a_dependency_goes_with_its_cause(reason, fact):
    assert gone(reason)
    assert not gone(reason, **{fact: True})


def test_a_question_about_the_queue_goes_when_it_stands_there_again():
    assert gone("dequeued", in_queue=True)
    assert not gone("dequeued")


@pytest.mark.parametrize(
    "reason", ["merge_forbidden", "returned_too_often", "landing_unverified", "queue_stalled", "manual_landing", ""]
)
def test_other_questions_stay(reason):
    assert not gone(reason, verdict=Verdict.READY, base=OTHER, base_ref="other")
