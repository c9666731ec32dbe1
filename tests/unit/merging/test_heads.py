from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from convergence.forge.facts import Author, Listing, Review
from merging.decisions.heads import changes_were_requested, head_is_foreign, reason_is_gone
from merging.guards import Verdict

T0 = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
OWN, OTHER = "a" * 40, "b" * 40


@pytest.mark.parametrize("value", ["foreign_push", "any_push"])
def test_a_head_that_this_product_did_not_review_is_foreign(value):
    assert head_is_foreign(OTHER, {OWN}, value)
    assert not head_is_foreign(OWN, {OWN}, value)
    assert not head_is_foreign(None, {OWN}, value)


def test_nothing_is_foreign_where_the_policy_says_never():
    assert not head_is_foreign(OTHER, {OWN}, "never")


def review(state, submitted_at):
    return Review(
        id=1,
        node_id="R1",
        state=state,
        submitted_at=submitted_at,
        body="",
        association="MEMBER",
        author=Author("dev", "User"),
        commit_sha=OWN,
        committed_at=T0,
    )


LATER, EARLIER = T0 + timedelta(seconds=1), T0 - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("state", "at", "value", "expected"),
    [
        ("CHANGES_REQUESTED", LATER, "foreign_push", True),
        ("CHANGES_REQUESTED", LATER, "any_push", True),
        ("CHANGES_REQUESTED", LATER, "never", False),
        ("CHANGES_REQUESTED", EARLIER, "foreign_push", False),
        ("CHANGES_REQUESTED", None, "foreign_push", False),
        ("DISMISSED", LATER, "foreign_push", False),
        ("APPROVED", LATER, "foreign_push", False),
    ],
)
def test_only_a_later_wish_for_changes_leads_back_to_review(state, at, value, expected):
    reviews = Listing(items=(review("APPROVED", EARLIER), review(state, at)), complete=True, total=2)
    assert changes_were_requested(reviews, T0, value) is expected


def test_unread_reviews_say_nothing():
    assert not changes_were_requested(None, T0, "foreign_push")


@dataclass
class Asked:
    asked_verdict: str = "ready"
    asked_base_sha: str = OWN
    base_ref: str = "main"


def gone(reason, *, verdict=Verdict.WAITING, base=OWN, base_ref="main", draft=False, head_known=True, asked=None):
    return reason_is_gone(
        reason,
        verdict=verdict,
        asked=asked or Asked(),
        base=base,
        base_ref=base_ref,
        draft=draft,
        head_known=head_known,
    )


@pytest.mark.parametrize("reason", ["checks_failing", "conflict", "stalled"])
def test_a_question_about_readiness_goes_when_it_is_ready(reason):
    assert gone(reason, verdict=Verdict.READY)
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
    assert not gone("unreachable", head_known=False)


@pytest.mark.parametrize("reason", ["merge_forbidden", "returned_too_often", "landing_unverified", ""])
def test_other_questions_stay(reason):
    assert not gone(reason, verdict=Verdict.READY, base=OTHER, base_ref="other")
