import re
from pathlib import Path

from factory_site.config import Config

DOCS = Path(__file__).resolve().parents[2] / "docs" / "README.md"


def test_the_documentation_lists_exactly_the_settings_that_exist():
    listed = re.findall(r"^\| `([A-Z_]+)` \|", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed == [field.alias for field in Config.model_fields.values() if field.alias]
