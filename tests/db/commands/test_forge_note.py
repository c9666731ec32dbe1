"""What a start says of the token for the forge."""

import pytest
from pydantic import SecretStr

from factory_site.serving.prepare import forge_note

pytestmark = pytest.mark.django_db


def test_a_start_without_a_token_says_so_in_one_line(monkeypatch, settings, tmp_path):
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))  # no command line of the forge either
    said: list[str] = []
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": None, "gh_token": None})
    forge_note(said.append)
    assert len(said) == 1
    assert said[0].startswith("note: no token for github.com")
    assert "set GITHUB_TOKEN" in said[0]
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": SecretStr("one")})
    forge_note(said.append)
    assert len(said) == 1
