"""Tables of the pure decisions: reviews, gate, results, schedules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.decisions.agent_result import agent_verdict
from convergence.decisions.attempts import attempt_word
from convergence.decisions.reviews import (
    KnownReview,
    OpenThread,
    changes_requested,
    fresh_reviews,
    only_empty,
    review_assignment,
)
from convergence.decisions.schedule import Asked, gone, husk_pause, nudge_opens, poll_pause
from convergence.forge.facts import Author, Review

KEYS = st.sampled_from(["status", "threads", "question", "summary", "id", "reply"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
ODD = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=12)
T = datetime(2026, 3, 1, 10, tzinfo=UTC)
HEAD, OLD = "a" * 40, "b" * 40
MINUTE = timedelta(minutes=1)

REVIEW = Review(
    id=1,
    node_id="R",
    state="COMMENTED",
    submitted_at=T,
    body="",
    association="NONE",
    author=Author("copilot", "Bot"),
    commit_sha=HEAD,
    committed_at=T - MINUTE,
)
BOT = KnownReview("1", "copilot", "copilot", True, False, "COMMENTED", T, HEAD, False, False)
ANN = replace(BOT, forge_id="2", reviewer="ann", author="ann", configured=False, trusted=True)
THREAD = OpenThread("T1", "ann", "https://x", given=False)


@pytest.mark.parametrize(
    ("review", "first_seen", "pushes", "counts", "why"),
    [
        (REVIEW, T - MINUTE, (), HEAD, ""),
        (REVIEW, T, (), HEAD, ""),
        (REVIEW, T + MINUTE, (), HEAD, ""),  # found late
        (REVIEW, None, (), HEAD, ""),
        (REVIEW, T + MINUTE, (T + MINUTE,), "", "force_pushed"),
        (REVIEW, T + MINUTE, (T - MINUTE,), HEAD, ""),
        (REVIEW, T - MINUTE, (T + MINUTE,), HEAD, ""),  # seen as head before the review: that stands
        (replace(REVIEW, committed_at=T + MINUTE), T + MINUTE, (), "", "commit_newer"),
        (replace(REVIEW, commit_sha=None), None, (), "", "no_commit"),
        (replace(REVIEW, state="DISMISSED"), T - MINUTE, (), "", "dismissed"),
        (replace(REVIEW, state="PENDING", submitted_at=None), None, (), "", "pending"),
    ],
)
def test_a_review_counts_for_one_commit_or_none(review, first_seen, pushes, counts, why):
    """CV-H13, CV-S22, CV-S23: the product's own record decides, force-pushed reviews count for none."""
    judged = review_assignment(review, head_first_seen=first_seen, force_pushes=pushes)
    assert (judged.counts_for, judged.void_reason) == (counts, why)


@pytest.mark.parametrize(
    ("review", "head", "threads", "fresh"),
    [
        (BOT, HEAD, (), True),
        (BOT, OLD, (), False),
        (BOT, None, (), False),
        (replace(BOT, consumed=True), HEAD, (), False),
        (replace(BOT, counts_for=""), HEAD, (), False),
        (ANN, HEAD, (), False),
        (ANN, OLD, (THREAD,), True),
        (ANN, OLD, (replace(THREAD, given=True),), False),
        (ANN, OLD, (replace(THREAD, author="eve"),), False),
        (replace(ANN, state="CHANGES_REQUESTED"), OLD, (), True),
        (replace(ANN, state="CHANGES_REQUESTED", consumed=True), OLD, (), False),
        (replace(ANN, trusted=False, state="CHANGES_REQUESTED"), HEAD, (THREAD,), False),
    ],
)
def test_what_makes_a_review_fresh(review, head, threads, fresh):
    """CV-H18: words of an outsider wake nothing."""
    assert bool(fresh_reviews([review], head=head, threads=threads)) == fresh


def test_an_approval_lifts_a_request_and_a_comment_does_not():
    asked = replace(ANN, state="CHANGES_REQUESTED")
    comment = replace(ANN, forge_id="3", submitted_at=T + MINUTE)
    assert changes_requested([asked, comment]) == (asked,)
    assert not changes_requested([asked, replace(comment, state="APPROVED")])
    assert not changes_requested([asked, replace(comment, state="DISMISSED")])


EMPTY = replace(BOT, empty=True)


@pytest.mark.parametrize(
    ("fresh", "others", "threads", "complete", "expected"),
    [
        ([EMPTY], [], [], True, True),
        ([], [], [], True, False),
        ([BOT], [], [], True, False),
        ([EMPTY, BOT], [], [], True, False),
        ([EMPTY], [], [THREAD], True, False),
        ([EMPTY], [], [], False, False),
        ([EMPTY], [replace(ANN, forge_id="9")], [], True, False),
        ([EMPTY], [replace(ANN, forge_id="9", consumed=True)], [], True, True),
        ([EMPTY], [replace(ANN, forge_id="9", state="DISMISSED")], [], True, True),
    ],
)
def test_only_empty_reviews_spare_a_round(fresh, others, threads, complete, expected):
    """CV-S47: with anything else open, or unread, it is a round like any other."""
    assert only_empty(fresh, [*fresh, *others], threads, complete=complete) == expected


@pytest.mark.parametrize(
    ("artifact", "status", "raw"),
    [
        ({"status": "converged"}, "converged", "converged"),
        ({"status": " converged "}, "addressed", " converged "),
        ({"status": "done"}, "addressed", "done"),
        ({"status": "Converged"}, "addressed", "Converged"),
        ({"status": 7}, "addressed", "7"),
        ({}, "addressed", ""),
        (None, "addressed", ""),
        ([], "addressed", ""),
    ],
)
def test_a_status_is_one_of_four_words_exactly(artifact, status, raw):
    """CV-S9: anything else is addressed, with the raw value kept."""
    verdict = agent_verdict(artifact)
    assert (verdict.status, verdict.raw_status) == (status, raw)


def test_a_blank_question_asks_nobody():
    assert not agent_verdict({"status": "needs_input", "question": " \n"}).asks
    assert agent_verdict({"status": "blocked", "question": " why? "}).question == "why?"
    assert not agent_verdict({"status": "addressed", "question": "why?"}).asks


def test_acknowledgements_outside_the_backlog_are_ignored_and_counted():
    verdict = agent_verdict(
        {
            "acks": [
                {"id": "a", "verdict": "applied", "note": " Done. "},
                {"id": "b", "verdict": "declined"},
                {"id": "c", "verdict": "maybe"},
                {"id": "d", "verdict": ["applied"]},
                {"id": "foreign", "verdict": "applied"},
                {"id": "a", "verdict": "declined"},
                "odd",
            ]
        },
        known_advisories=frozenset("abcd"),
    )
    told = [(ack.id, ack.verdict, ack.note) for ack in verdict.acks]
    assert told == [("a", "applied", "Done."), ("b", "declined", "")]
    assert verdict.ignored == 5


def test_threads_outside_the_backlog_are_ignored_and_counted():
    verdict = agent_verdict(
        {
            "threads": [
                {"id": "T1", "reply": "x" * 9000, "resolve": True},
                {"id": "T1"},
                {"id": "foreign"},
                {"id": 4},
                "odd",
                {"id": "T2", "reply": 5, "resolve": "true"},
            ],
            "summary": "é" * 9000,
        },
        known_threads=frozenset({"T1", "T2"}),
    )
    assert [(thread.id, thread.resolve) for thread in verdict.threads] == [("T1", True), ("T2", False)]
    assert verdict.threads[0].reply.endswith("[cut: longer than 8 KiB]")
    assert verdict.threads[1].reply == ""
    assert verdict.ignored == 4
    assert len(verdict.summary.encode()) < 8 * 1024 + 40


@given(ODD)
def test_no_result_breaks_the_flow(artifact):
    verdict = agent_verdict(artifact, known_threads=frozenset({"T1"}))
    assert verdict.status in {"converged", "addressed", "needs_input", "blocked"}


@pytest.mark.parametrize(
    ("outcome", "cause", "reason", "word"),
    [
        ("failed", "environment", "worker_lost", "environment"),
        ("failed", "environment", "adapter_error", "environment"),
        ("failed", "agent_error", "agent_exit", "agent_exit"),
        ("failed", "agent_error", "contract_violation", "contract_violation"),
        ("completed", "", "ok", "completed"),
        ("timed_out", "fatal", "timeout", "timed_out"),
        ("", "", "", ""),
    ],
)
def test_how_the_newest_attempt_is_told(outcome, cause, reason, word):
    """CV-H15: only these two words are husks."""
    assert attempt_word(outcome, cause, reason) == word


WINDOW = timedelta(minutes=5)


@pytest.mark.parametrize(
    ("earlier", "due"),
    [
        ([], True),
        ([Asked(HEAD, T - timedelta(minutes=4), "requested")], False),
        ([Asked(HEAD, T - timedelta(minutes=5), "requested")], True),
        ([Asked(HEAD, T - timedelta(minutes=4), "ignored")], False),
        ([Asked(HEAD, T - timedelta(minutes=4), "failed")], True),
        ([Asked(HEAD, T - timedelta(seconds=59), "failed")], False),
        ([Asked(OLD, T - timedelta(minutes=2), "requested")], True),
        ([Asked(OLD, T - timedelta(seconds=59), "requested")], False),
        ([Asked(HEAD, T - timedelta(minutes=4), "")], False),
    ],
)
def test_when_a_reviewer_may_be_asked_again(earlier, due):
    """CV-H19: one request in a window for a head, never two within a minute."""
    opens_at = nudge_opens(earlier, head=HEAD, window=WINDOW)
    assert (opens_at is None or opens_at <= T) == due


def test_pauses_are_spread():
    assert all(timedelta(seconds=54) <= poll_pause("await_review", 60) <= timedelta(seconds=66) for _ in range(50))
    assert poll_pause("await_answer", 60) >= timedelta(seconds=270)
    assert all(timedelta(seconds=24) <= husk_pause(0) <= timedelta(seconds=36) for _ in range(50))
    assert husk_pause(1) >= timedelta(seconds=96)


def test_gone_needs_three_answers_over_ten_minutes():
    assert gone(3, T - timedelta(minutes=10), T)
    assert not gone(2, T - timedelta(minutes=60), T)
    assert not gone(9, T - timedelta(minutes=9), T)
    assert not gone(9, None, T)


def test_what_an_agent_says_holds_no_nul_character():
    """No text column of PostgreSQL takes one, so its flow would never leave the step."""
    said = {"status": "con\0verged", "summary": "a\0", "question": "b\0?", "threads": [{"id": "T", "reply": "c\0"}]}
    assert "\0" not in repr(agent_verdict(said, known_threads=frozenset({"T"}))).replace("\\x00", "\0")
