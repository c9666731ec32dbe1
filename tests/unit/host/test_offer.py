"""What a worker offers, by what its machine has."""

from dataclasses import replace

import pytest

from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.host_config import HostConfig
from workers.host.offer import Offering
from workers.host.options import Options
from workers.host.pool.supervisor import Machine
from workers.host.settings import load_settings

SERVER = "https://github.example.org"


class Login:
    """A GitHub CLI, logged in or not."""

    def __init__(self):
        self.token = ""
        self.at = 0.0

    def __call__(self, *_):
        return self.token


@pytest.fixture
def login():
    return Login()


@pytest.fixture
def offer(tmp_path, login):
    """The offering of a machine with these environment variables."""

    def made(**environment):
        settings = load_settings({"FACTORY_HOME": str(tmp_path), **environment})
        tokens = TokenSource(SERVER, settings.environment, cli=login, monotonic=lambda: login.at)
        config = replace(HostConfig(), min_free_gb=0)
        return Offering(Machine(settings, Options(), config, tmp_path, AdapterRegistry(), tokens, "1"))

    return made


def test_without_a_forge_token_no_worktree_is_offered_and_its_lack_is_told(offer, capsys):
    offering = offer()
    assert offering.claim()["workspaceKinds"] == ["artifacts", "ephemeral"]
    assert offering.health()["kindsMissing"] == {"worktree": "no_forge_token"}
    offering.note_limits()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "GITHUB_TOKEN" in said
    assert offering.blocked() is None


def test_with_a_token_every_kind_is_offered_and_nothing_is_noted(offer, capsys):
    offering = offer(GITHUB_TOKEN="ghp_x")
    assert offering.claim()["workspaceKinds"] == ["artifacts", "ephemeral", "worktree"]
    assert offering.health()["kindsMissing"] == {}
    offering.note_limits()
    assert capsys.readouterr().err == ""


def test_a_login_during_its_life_is_noticed(offer, login):
    offering = offer()
    assert "worktree" not in offering.claim()["workspaceKinds"]
    login.token, login.at = "gho_x", 61.0
    assert "worktree" in offering.claim()["workspaceKinds"]
