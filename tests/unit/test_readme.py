"""What a newcomer reads first: short, without dead links, and with commands that exist."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]
NOT_OF_DJANGO = {"demo", "test"}  # manage.py itself hands these on


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_link_within_the_project_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        place = (page.parent / path) if path else page
        assert place.exists(), f"{target} is not there"
        if anchor:
            assert anchor in anchors(place), f"{target} has no such heading"


def test_the_readme_is_read_in_ten_minutes():
    assert len(README.splitlines()) <= 200


def test_every_command_of_the_readme_exists():
    named = set(re.findall(r"manage\.py ([a-z_]+)", README))
    assert named >= {"demo", "serve", "work", "submit", "credentials"}
    assert named <= {*get_commands(), *NOT_OF_DJANGO}


def test_every_decision_has_a_number_of_its_own_and_bears_it():
    pages = sorted((PROJECT / "docs" / "decisions").glob("*.md"))
    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for number, page in zip(numbers, pages, strict=True):
        assert page.read_text(encoding="utf-8").startswith(f"# {number}. ")
