"""Copilot under all its names, and what it hides in the body of a review."""

from datetime import UTC, datetime

import pytest

from convergence.forge.facts import (
    Author,
    Listing,
    Profile,
    PullFacts,
    PullState,
    RepositoryRef,
    Review,
    ReviewRequest,
)
from convergence.reviewers.contract import Advisory, Pending
from convergence.reviewers.copilot import Copilot

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
COPILOT = Copilot()


def pull(requests=None):
    return PullFacts(
        profile=Profile.WATCH,
        observed_at=NOW,
        node_id="PR_1",
        forge_id=1,
        number=12,
        url="https://github.com/acme/shop/pull/12",
        title="Sum",
        state=PullState.OPEN,
        is_draft=False,
        merged_at=None,
        closed_at=None,
        updated_at=NOW,
        head_ref="feat",
        head_sha="a" * 40,
        head_ref_oid="a" * 40,
        head_repository=None,
        is_cross_repository=False,
        maintainer_can_modify=True,
        base_ref="main",
        base_sha=None,
        repository=RepositoryRef(7, "acme/shop"),
        merge_commit_sha=None,
        author=Author("ada", "User"),
        review_requests=requests,
    )


def review(body="", state="COMMENTED"):
    return Review(1, "R1", state, NOW, body, "NONE", Author("copilot-pull-request-reviewer", "Bot"), "a" * 40, NOW)


@pytest.mark.parametrize(
    ("login", "typename"),
    [
        ("Copilot", "Bot"),
        ("copilot-pull-request-reviewer", "Bot"),
        ("copilot-pull-request-reviewer[bot]", "Bot"),
        ("copilot-pull-request-reviewer[bot]", "User"),
        ("Copilot-Pull-Request-Reviewer", "Mannequin"),
    ],
)
def test_every_spelling_is_the_same_reviewer(login, typename):
    """GH-S16: as it is requested, as it is shown pending, and as a review's author in GraphQL and REST."""
    assert COPILOT.matches(login, typename)


@pytest.mark.parametrize(("login", "typename"), [("copilot", "User"), ("copilots", "Bot"), (None, ""), ("ada", "User")])
def test_nobody_else_is(login, typename):
    assert not COPILOT.matches(login, typename)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (None, Pending.UNKNOWN),
        (Listing((), True, 0), Pending.NO),
        (Listing((), False, 1), Pending.UNKNOWN),
        (Listing((ReviewRequest("Copilot", "Bot"),), False, 2), Pending.YES),
        (Listing((ReviewRequest("ada", "User"),), True, 1), Pending.NO),
        (Listing((ReviewRequest("ada", "User"), ReviewRequest(None, "")), True, 2), Pending.UNKNOWN),
    ],
)
def test_a_request_is_pending_only_if_it_is_seen_and_absent_only_if_all_were_read(requests, expected):
    assert COPILOT.pending(pull(requests)) is expected


def test_only_the_bot_login_is_requested_by_rest_first_and_by_login_second():
    write = COPILOT.request(pull(), 1)
    assert write is not None
    assert write.operation == "request_review"
    assert write.arguments["login"] == "copilot-pull-request-reviewer[bot]"
    assert write.arguments["ways"] == ["rest", "by_login"]
    assert write.arguments["pull"] == {"owner": "acme", "name": "shop", "number": 12, "node_id": "PR_1"}
    second = COPILOT.request(pull(), 2)
    assert second is not None
    assert second.arguments["ways"] == ["by_login"]
    assert COPILOT.request(pull(), 3) is None


@pytest.mark.parametrize(
    ("state", "counts"),
    [("COMMENTED", True), ("APPROVED", True), ("CHANGES_REQUESTED", True), ("DISMISSED", False), ("PENDING", False)],
)
def test_which_reviews_speak_for_a_commit(state, counts):
    assert COPILOT.counts(review(state=state)) is counts


BODY = """## Pull Request Overview

**notes.md:9**
This is no advisory.

<details>
<summary>Comments suppressed due to low confidence ({announced})</summary>

**src/app.py:7**
* Use a *constant* here.
```python
**decoy.py:1**
```

`src/b.py:10-12`: Name it.
More about it.

- **Makefile**
The target is phony.
</details>

**src/late.py:1**
After the block.
"""
PARSED = (
    Advisory("src/app.py", 7, "Use a *constant* here."),
    Advisory("src/b.py", 10, "Name it.\n\nMore about it."),
    Advisory("Makefile", None, "The target is phony."),
)
HEADING = """Copilot reviewed 2 out of 2 changed files in this pull request and generated 1 comment.

### Suppressed comments (3)

**src/app.py:7**: Use a *constant* here.

`src/b.py:10`: Name it.

More about it.
- **Makefile**
The target is phony."""


@pytest.mark.parametrize("body", [BODY.format(announced=3), HEADING, HEADING.replace("\n", "\r\n")])
def test_three_announced_and_three_parsed_in_both_forms(body):
    """GH-S22: a summary or a heading opens the block; fenced code and text around it are not advisories."""
    found = COPILOT.advisories(body)
    assert (found.announced, found.readable) == (3, True)
    assert [(item.path, item.line) for item in found.parsed] == [(item.path, item.line) for item in PARSED]
    assert [item.text.split() for item in found.parsed] == [item.text.split() for item in PARSED]


def test_four_announced_and_three_parsed_are_unreadable():
    """GH-S22: a number that does not fit makes the whole body unreadable."""
    assert not COPILOT.advisories(BODY.format(announced=4)).readable


def test_nested_details_do_not_end_the_block():
    body = (
        "<details><summary>Suppressed comments (2)</summary>\n\n**a.py:1**\n<details>more</details>\n\n**b.py:2**\nx\n"
        "</details>\n**c.py:3**\n"
    )
    assert [item.path for item in COPILOT.advisories(body).parsed] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("found", "empty"),
    [
        (review(""), True),
        (review("  \n"), True),
        (review("Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments."), True),
        (review("Copilot reviewed 1 out of 1 changed files and generated no new comments."), True),
        (review("Copilot reviewed 1 out of 1 changed files in this pull request and generated 2 comments."), False),
        (review("I could not review this."), False),
        (review(BODY.format(announced=3)), False),
        (review("generated no comments\n" + BODY.format(announced=3)), False),
        (review(None), False),
        (review("", state="CHANGES_REQUESTED"), False),
        (review("", state="DISMISSED"), False),
    ],
)
def test_a_review_is_empty_only_if_its_body_says_so_in_known_words(found, empty):
    assert COPILOT.empty(found) is empty
