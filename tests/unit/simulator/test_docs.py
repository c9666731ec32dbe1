"""The page about the simulated GitHub names what the code has, and nothing else."""

import re
from dataclasses import fields
from pathlib import Path

from fixtures.simulator.bots import CheckScript, ReviewScript
from fixtures.simulator.cast.people import PersonScript
from fixtures.simulator.faults import Faults
from fixtures.simulator.graphql.mutations import OPERATIONS
from fixtures.simulator.rest.routing import ROUTES

PAGE = (Path(__file__).parents[3] / "docs" / "simulator.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def row(text: str, first: str) -> set[str]:
    """The names in code of the table's row that begins with these words."""
    [line] = [each for each in text.splitlines() if each.startswith(f"| {first} |")]
    return set(re.findall(r"`([\w:]+)`", line.split("|", 2)[2]))


def test_the_page_names_every_operation() -> None:
    text = section("Operations")
    assert row(text, "reads") == {r.operation for r in ROUTES if r.method == "GET"}
    assert row(text, "writes") == {r.operation for r in ROUTES if r.method != "GET"}
    assert row(text, "mutations") == set(OPERATIONS.values())


def test_the_page_names_every_fault() -> None:
    named = set(re.findall(r"`(\w+)\(", section("Faults"))) - {"release", "cease"}
    assert named == set(Faults.NAMES)
    assert all(callable(getattr(Faults, name)) for name in Faults.NAMES)


def test_the_page_names_every_key_of_the_bots_scripts() -> None:
    text = section("Scripts")
    triggers = {"opened", "requested", "pushed"}
    assert row(text, "`reviewer`") - triggers == {f.name for f in fields(ReviewScript)}
    acts = {"merge", "rerun", "comment", "failed"}
    assert row(text, "`people`") - triggers - acts == {f.name for f in fields(PersonScript)}
    assert row(text, "`checks`") == {f.name for f in fields(CheckScript)}
