import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging.decisions.dependencies import ahead_of, declared, reference_of, references_of

REPO, SERVER = "acme/shop", "https://forge.example"


def named(body):
    found = declared(body, repository=REPO, server_url=SERVER)
    return [str(each) for each in found.references], list(found.unreadable)


@pytest.mark.parametrize(
    ("body", "references", "unreadable"),
    [
        ("Depends-on: acme/api#12", ["acme/api#12"], []),
        ("depends on: #12", ["acme/shop#12"], []),
        ("DEPENDS-ON:acme/api#12", [], []),  # a word of its own
        ("  - Depends-On: #1, #2 and #3", ["acme/shop#1", "acme/shop#2", "acme/shop#3"], []),
        ("Depends-on: #1 #1\nText\nDepends on: acme/api#7", ["acme/shop#1", "acme/api#7"], []),
        ("Depends-on: https://forge.example/acme/api/pull/7/files", ["acme/api#7"], []),
        ("Depends-on: https://forge.example/acme/api/issues/7", ["acme/api#7"], []),
        ("Depends-on: https://elsewhere.example/acme/api/pull/7", [], ["https://elsewhere.example/acme/api/pull/7"]),
        ("Depends-on: the other one", [], ["the", "other", "one"]),
        ("Depends-on: #0, acme/..#1x", [], ["#0", "acme/..#1x"]),
        ("Depends on #12 being merged.", ["acme/shop#12"], []),
        ("Depends on the weather and #12", [], []),
        ("This depends-on: #12", [], []),
        ("<!-- Depends-on: #12 -->\nDepends-on: #13.", ["acme/shop#13"], []),
        ("```\nDepends-on: #12\n```\n", [], []),
        ("Depends-on: #12\r\nDepends-on: #13\r\n", ["acme/shop#12", "acme/shop#13"], []),
        ("", [], []),
        (None, [], []),
    ],
)
def test_a_body_names_what_merges_first(body, references, unreadable):
    assert named(body) == (references, unreadable)


@pytest.mark.parametrize(
    ("given_value", "references"),
    [
        (["acme/api#7", "#2, #3"], ["acme/api#7", "acme/shop#2", "acme/shop#3"]),
        ("acme/api#7 #2,#3", ["acme/api#7", "acme/shop#2", "acme/shop#3"]),
        ([1, None, {"a": 1}], []),
        (None, []),
        ({"a": "#1"}, []),
    ],
)
def test_an_agent_names_references_in_a_list_or_a_text(given_value, references):
    found = references_of(given_value, repository=REPO, server_url=SERVER)
    assert [str(each) for each in found.references] == references


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text):
    declared(f"Depends-on: {text}", repository=REPO, server_url=SERVER)
    reference_of(text, repository=REPO, server_url=SERVER)


@pytest.mark.parametrize(
    ("edges", "order"),
    [
        ({}, []),
        ({"d": ["c"], "c": ["b"], "b": ["a"]}, ["a", "b", "c"]),
        ({"d": ["b", "c"], "b": ["a"], "c": ["a"]}, ["a", "b", "c"]),
        ({"d": ["c", "a"], "c": ["a"], "x": ["d"]}, ["a", "c"]),
        ({"d": ["c"], "c": ["d", "b"]}, ["b", "c"]),
        ({"d": ["d"]}, []),
    ],
    ids=["nothing", "a chain", "a diamond", "two ways", "a cycle", "itself"],
)
def test_what_lands_first_comes_in_an_order_in_which_it_can(edges, order):
    assert ahead_of("d", edges) == order


def test_a_chain_of_any_length_is_followed():
    edges = {str(number): [str(number - 1)] for number in range(1, 5000)}
    assert ahead_of("4999", edges) == [str(number) for number in range(4999)]
