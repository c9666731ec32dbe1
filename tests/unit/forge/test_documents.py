"""Every GraphQL text of the product fits GitHub's published schema, in every dialect that a server may speak."""

from itertools import product

import pytest

from convergence.forge.documents import connections, effects, profiles
from convergence.forge.documents.dialect import INTROSPECTION, Dialect
from convergence.forge.facts import Profile
from tests.contracts.graphql import HERE as CONTRACTS
from tests.contracts.graphql import errors

DIALECTS = [Dialect(*flags) for flags in product([True, False], repeat=3)]
LISTS = [item for item in vars(connections).values() if isinstance(item, connections.Connection)]


def documents(dialect):
    for profile in Profile:
        yield profiles.by_name(profile, dialect)
        for count in (1, 3):
            yield profiles.by_node_ids(profile, dialect, count)
    for item in LISTS:
        yield profiles.page_of(item, dialect)
    yield effects.review_requests(dialect)
    yield from (INTROSPECTION, profiles.THREAD_COMMENTS, profiles.IDENTITY, profiles.VIEWER)
    yield from (effects.REPLY, effects.RESOLVE, effects.THREAD_STATE)


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_every_document_fits_the_published_schema(dialect):
    for text in documents(dialect):
        assert errors(text) == [], text[:200]


def test_only_the_request_by_login_needs_the_extension():
    published = (CONTRACTS / "github-schema.graphql").read_text(encoding="utf-8")
    assert "requestReviewsByLogin" not in published
    assert errors(effects.REQUEST_BY_LOGIN) == []


@pytest.mark.parametrize("profile", Profile)
def test_every_document_asks_what_it_costs_and_every_list_how_long_it_is(profile):
    text = profiles.by_node_ids(profile, Dialect(), 2)
    assert "rateLimit{cost remaining resetAt}" in text
    assert text.count("nodes{") == text.count("totalCount pageInfo{")


def test_a_required_check_is_asked_for_each_pull_request_by_its_own_id():
    text = profiles.by_node_ids(Profile.MERGE, Dialect(), 3)
    assert [text.count(f"isRequired(pullRequestId: $i{n})") for n in range(3)] == [2, 2, 2]
    assert "fragment" not in text


def test_watching_asks_for_no_bodies_and_no_threads():
    text = profiles.by_node_ids(Profile.WATCH, Dialect(), 2)
    assert "body" not in text
    assert "reviewThreads" not in text
