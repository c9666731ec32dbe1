"""Which markers acknowledge what."""

import pytest

from convergence.decisions.acks import is_declined, marked_ids
from convergence.fingerprint import fingerprint

MARK = fingerprint("Use a constant here", "src/app.py")
LONG = fingerprint("Use a constant here.\nIt is used twice.", "src/app.py")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("factory-ack: src/app.py :: Use a *constant* here.", True),
        ("Done.\n\nfactory-ack: src/app.py :: use a constant here\n\n<!-- factory:1 -->", True),
        ("nano-ack: src/app.py :: Use a constant here", True),
        ("Declined, it is used once. factory-ack: `src/app.py` :: Use a constant here", True),
        ("factory-ack: src/app.py:7 :: Use a constant here", True),
        (f"factory-ack: #{MARK}", True),
        (f"Factory-Ack: #{MARK.upper()} applied", True),
        (f"factory-ack: #{'0' * 16}\nfactory-ack: #{MARK}", True),
        ("factory-ack: src/app.py:7", False),
        ("factory-ack: src/app.py", False),
        ("factory-ack: src/other.py :: Use a constant here", False),
        (f"factory-ack: {MARK}", False),
        (f"> factory-ack: #{MARK}", False),
        (f"unsatisfactory-ack: #{MARK}", False),
        ("factory-ack:", False),
        ("", False),
    ],
)
def test_a_marker_names_an_advisory_by_id_or_by_path_and_text(body, names):
    """CV-S25, CV-H14: a bare place names nothing, and what is quoted is somebody else's."""
    assert (MARK in marked_ids(body)) is names


def test_a_text_of_several_lines_goes_on_after_the_marker():
    body = "factory-ack: src/app.py :: Use a constant here.\nIt is used twice.\n\nfactory-ack: b.py :: Name it"
    assert {LONG, fingerprint("Name it", "b.py")} <= marked_ids(body)


@pytest.mark.parametrize(
    ("body", "declined"), [("Declined: once.", True), ("**Declined**", True), ("Not declined", False), ("Done.", False)]
)
def test_what_is_declined_says_so_first(body, declined):
    assert is_declined(body) is declined
