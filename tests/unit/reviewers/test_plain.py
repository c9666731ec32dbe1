"""Bots of any make, people and teams: who they are, how they are asked, and that nothing is read into their words."""

from datetime import UTC, datetime

import pytest

from convergence.forge.facts import Author, Listing, Review, ReviewRequest
from convergence.reviewers.contract import Pending, ReviewerKind
from convergence.reviewers.plain import Bot, Person, Team
from convergence.reviewers.registry import build_reviewers
from convergence.trust import People, Standing
from runs.policy import policy_read
from tests.unit.reviewers.test_copilot import pull

BOT = Bot("scanner", logins=["acme-scanner"], comment="@acme-scanner review")
ASKED = Bot("linter", logins=["lint[bot]"], login="lint[bot]")
SILENT = Bot("nightly", logins=["nightly[bot]"])
PERSON = Person("ann", login="Ann")
TEAM = Team("leads", team="acme/leads", members=["Bob", "eve"])


@pytest.mark.parametrize(
    ("reviewer", "login", "typename", "matches"),
    [
        (BOT, "acme-scanner", "Bot", True),
        (BOT, "Acme-Scanner[bot]", "Bot", True),
        (BOT, "acme-scanner", "User", True),  # the policy spells it without [bot]: it may be a user's account
        (BOT, "other", "Bot", False),
        (BOT, None, "", False),
        (ASKED, "lint", "Bot", True),
        (ASKED, "lint[bot]", "User", True),  # as REST says it
        (ASKED, "lint", "User", False),  # a person who took the app's name
        (PERSON, "ann", "User", True),
        (PERSON, "ann", "Bot", False),
        (PERSON, "annette", "User", False),
        (TEAM, "bob", "User", True),
        (TEAM, "EVE", "User", True),
        (TEAM, "mallory", "User", False),
        (TEAM, "acme/leads", "Team", False),
    ],
)
def test_who_is_who(reviewer, login, typename, matches):
    assert reviewer.matches(login, typename) is matches


def test_each_is_asked_in_its_own_way_and_never_in_a_second_one():
    snapshot = pull()
    comment = BOT.request(snapshot, 1)
    assert comment is not None
    assert (comment.operation, comment.arguments["body"]) == ("comment", "@acme-scanner review")
    login = ASKED.request(snapshot, 1)
    assert login is not None
    assert (login.operation, login.arguments["login"]) == ("request_review", "lint[bot]")
    assert {"lint", "lint[bot]"} <= set(login.arguments["spellings"])
    assert SILENT.request(snapshot, 1) is None
    person, team = PERSON.request(snapshot, 1), TEAM.request(snapshot, 1)
    assert person is not None
    assert team is not None
    assert (person.arguments["login"], person.arguments["ways"]) == ("Ann", ["rest"])
    assert (team.arguments["login"], team.arguments["ways"]) == ("acme/leads", ["team"])
    assert all(each.request(snapshot, 2) is None for each in (BOT, ASKED, SILENT, PERSON, TEAM))


def listed(*requests):
    return Listing(items=requests, complete=True, total=len(requests))


@pytest.mark.parametrize(
    ("reviewer", "shown"),
    [
        (ASKED, ReviewRequest(login="lint", typename="Bot")),
        (PERSON, ReviewRequest(login="ann", typename="User")),
        (TEAM, ReviewRequest(login="acme/leads", typename="Team")),
    ],
)
def test_who_is_pending(reviewer, shown):
    assert reviewer.pending(pull(listed(shown))) is Pending.YES
    assert reviewer.pending(pull(listed(ReviewRequest(login="else", typename="User")))) is Pending.NO
    assert reviewer.pending(pull(listed(ReviewRequest(login=None, typename="")))) is Pending.UNKNOWN
    assert reviewer.pending(pull(None)) is Pending.UNKNOWN


def review(body, state="COMMENTED", author=None):
    return Review(
        node_id="R1",
        id=1,
        author=author,
        association="NONE",
        state=state,
        submitted_at=datetime(2026, 3, 1, tzinfo=UTC),
        body=body,
        commit_sha="a" * 40,
        committed_at=None,
    )


@pytest.mark.parametrize(
    ("body", "state", "empty"),
    [("", "APPROVED", True), (" \n", "COMMENTED", True), ("LGTM", "APPROVED", False), ("", "CHANGES_REQUESTED", False),
     (None, "APPROVED", False), ("generated no comments", "COMMENTED", False)],
)  # fmt: skip
def test_free_text_is_empty_only_where_nothing_was_written(body, state, empty):
    for reviewer in (BOT, PERSON, TEAM):
        assert reviewer.empty(review(body, state)) is empty
        assert reviewer.advisories("<summary>Suppressed comments (3)</summary>").announced == 0


def test_a_policy_builds_its_reviewers(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        'reviewers:\n  - {name: scanner, adapter: bot, logins: [acme-scanner], request: {comment: "@s review"}}\n'
        "  - {name: ann, adapter: person, login: ann}\n  - {name: leads, adapter: team, team: Acme/leads}\n"
        "  - {name: copilot, adapter: copilot}\n"
    )
    built = build_reviewers(policy_read(path).reviewers, {"acme/leads": ["bob"]})
    assert [(each.name, each.kind) for each in built] == [
        ("scanner", ReviewerKind.BOT),
        ("ann", ReviewerKind.PERSON),
        ("leads", ReviewerKind.TEAM),
        ("copilot", ReviewerKind.BOT),
    ]
    assert built[2].matches("bob", "User")


def test_a_bot_that_nobody_configured_is_a_stranger_whatever_it_may_do_here():
    people = People(reviewers=(BOT,), associations=frozenset({"MEMBER"}), authors=frozenset({"helper"}))
    stranger = Author(login="shiny-reviewer", typename="Bot")
    assert people.standing(stranger, "MEMBER") is Standing.OTHER
    assert people.standing(Author(login="helper", typename="Bot"), "NONE") is Standing.TRUSTED
    assert people.standing(Author(login="dev", typename="User"), "MEMBER") is Standing.TRUSTED
