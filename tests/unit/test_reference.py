from pathlib import Path

from factory_site.reference.document import reference

PROJECT = Path(__file__).resolve().parents[2]


def test_the_reference_shows_the_code_as_it_is():
    shown = (PROJECT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert shown == reference(PROJECT), "run: manage.py docs --write"


def test_the_reference_has_the_product_s_own_commands_alone():
    text = reference(PROJECT)
    for own in ("demo", "serve", "work", "tokens issue", "credentials rotate"):
        assert f"| `{own}` |" in text
    assert "`runserver`" not in text
