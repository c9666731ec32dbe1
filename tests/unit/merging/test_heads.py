from datetime import UTC, datetime, timedelta

import pytest

from convergence.forge.facts import Author, Listing, Review
from merging.decisions.heads import changes_were_requested, head_is_foreign

T0 = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
OWN, OTHER = "a" * 40, "b" * 40


@pytest.mark.parametrize("value", ["foreign_push", "any_push"])
def test_a_head_that_this_product_did_not_review_is_foreign(value):
    own = {OWN: "converged"}
    assert head_is_foreign(OTHER, own, value)
    assert not head_is_foreign(OWN, own, value)
    assert not head_is_foreign(None, own, value)


def test_a_push_of_an_agent_is_reviewed_only_where_the_policy_wants_every_push_reviewed():
    """MG-H2: under any_push the head of a repair goes back to review as well."""
    assert not head_is_foreign(OWN, {OWN: "run_1"}, "foreign_push")
    assert head_is_foreign(OWN, {OWN: "run_1"}, "any_push")
    assert not head_is_foreign(OWN, {OWN: "update_branch"}, "any_push")


def test_nothing_is_foreign_where_the_policy_says_never():
    assert not head_is_foreign(OTHER, {OWN: "converged"}, "never")


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
