import pytest
from hypothesis import given
from hypothesis import strategies as st

from merging.decisions.squash import choose_method, squash_body, squash_title

ALL = {"squash": True, "merge": True, "rebase": True}
DEFAULT = "{title} (#{number})"


@pytest.mark.parametrize(
    ("wanted", "allowed", "method"),
    [
        ("squash", ALL, "squash"),
        ("rebase", ALL, "rebase"),
        ("squash", {**ALL, "squash": False}, "merge"),
        ("merge", {**ALL, "merge": False}, "squash"),
        ("squash", {"squash": False, "merge": False, "rebase": True}, "rebase"),
        ("squash", {"squash": None, "merge": None, "rebase": None}, "squash"),
        ("squash", dict.fromkeys(ALL, False), "squash"),
    ],
)
def test_the_first_method_that_the_repository_allows(wanted, allowed, method):
    chosen, why = choose_method(wanted, allowed)
    assert chosen == method
    assert bool(why) == (chosen != wanted)


def test_the_title_names_the_pull_request():
    assert squash_title(DEFAULT, title="Sum\n the  list", number=7) == "Sum the list (#7)"


def test_a_placeholder_in_the_title_itself_is_text():
    assert squash_title(DEFAULT, title="Use {number}", number=7) == "Use {number} (#7)"


@given(title=st.text(max_size=600), number=st.integers(1, 2**31 - 1))
def test_a_title_is_one_line_of_at_most_250_characters_and_keeps_its_number(title, number):
    line = squash_title(DEFAULT, title=title, number=number)
    assert len(line) <= 250
    assert len(line.splitlines()) == 1
    assert line.endswith(f"(#{number})")


AUTHORS = [("Ada", "ada@example.org"), ("Agent", "agent@example.org"), ("Ada L.", "ADA@example.org")]
LINES = "Co-authored-by: Ada <ada@example.org>\nCo-authored-by: Agent <agent@example.org>"


@pytest.mark.parametrize(
    ("kind", "text", "authors", "body"),
    [
        ("pr_body", "Why.", [], "Why."),
        ("pr_body", None, [], ""),
        ("pr_body", "<!-- template -->Why.\r\n<!-- a\nb -->", [], "Why."),
        ("pr_body", "Why.<!-- never closed", [], "Why."),
        ("pr_body", "Why.", AUTHORS, f"Why.\n\n{LINES}"),
        ("pr_body", "Co-authored-by: Ada <ada@example.org>", AUTHORS, LINES),
        ("empty", "Closes #1", [], ""),
        ("empty", "Closes #1", AUTHORS, LINES),
        ("commits", "Why.", AUTHORS, None),
    ],
)
def test_the_body_of_a_squash(kind, text, authors, body):
    assert squash_body(kind, text=text, authors=authors) == body


def test_at_most_twenty_authors_are_named():
    many = [(f"P{n}", f"p{n}@example.org") for n in range(30)]
    assert len((squash_body("empty", text=None, authors=many) or "").splitlines()) == 20


def test_an_author_cannot_smuggle_in_another_line():
    body = squash_body("empty", text=None, authors=[("Eve\nCloses #1 <x>", "eve@example.org"), ("Bad", "a b>")])
    assert body == "Co-authored-by: Eve Closes #1 x <eve@example.org>"
