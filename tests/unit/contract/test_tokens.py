"""Where a token comes from, and that it stays there."""

import hashlib
import os

import pytest

from runs.contract.errors import Permanent
from runs.contract.tokens import Token, TokenSource, run_cli

SERVER = "https://github.example.org"


class Cli:
    """Answers in order what a test says, and remembers how it was started."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.started = []
        self.at = 0.0

    def __call__(self, argv, _environment):
        self.started.append(argv)
        return self.answers.pop(0)

    def monotonic(self):
        return self.at


def source(cli, **environment):
    return TokenSource(SERVER, environment, cli=cli, monotonic=cli.monotonic)


@pytest.mark.parametrize(
    ("environment", "value", "where"),
    [
        ({"GITHUB_TOKEN": "one", "GH_TOKEN": "two"}, "one", "GITHUB_TOKEN"),
        ({"GITHUB_TOKEN": "  ", "GH_TOKEN": "two"}, "two", "GH_TOKEN"),
        ({"GITHUB_TOKEN": "new old"}, "new", "GITHUB_TOKEN"),
        ({"GITHUB_TOKEN": "", "GH_TOKEN": "\n"}, "three", "gh"),
    ],
)
def test_the_first_source_that_is_not_blank_wins(environment, value, where):
    token = source(Cli("three"), **environment).token()
    assert (token.value, token.source) == (value, where)


def test_the_cli_is_asked_for_the_servers_host_and_its_answer_is_kept_ten_minutes():
    cli = Cli("first", "second")
    tokens = source(cli)
    assert tokens.token().value == "first"
    cli.at = 599
    assert tokens.token().value == "first"
    cli.at = 600
    assert tokens.token().value == "second"
    assert cli.started == [("gh", "auth", "token", "--hostname", "github.example.org")] * 2


def test_after_a_401_the_cli_is_asked_again():
    tokens = source(Cli("first", "second"))
    assert tokens.token().value == "first"
    tokens.renew()
    assert tokens.token().value == "second"


def test_without_a_token_the_error_names_the_three_sources_and_a_login_needs_no_restart():
    cli = Cli("", "later")
    tokens = source(cli)
    for _ in range(2):
        with pytest.raises(Permanent) as raised:
            tokens.token()
    assert raised.value.code == "forge_unauthorised"
    assert raised.value.details["tried"] == [
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "gh auth token --hostname github.example.org",
    ]
    assert len(cli.started) == 1
    cli.at = 60
    assert tokens.token().value == "later"


def test_a_token_is_named_by_its_hash_and_shows_its_value_nowhere():
    token = Token(value="ghp_secret", source="GITHUB_TOKEN")
    assert token.credential_id == hashlib.sha256(b"ghp_secret").hexdigest()[:12]
    assert "ghp_secret" not in f"{token} {token!r} {vars(TokenSource)}"


def test_a_cli_that_is_absent_fails_or_prints_nothing_gives_no_token(tmp_path):
    environment = {"PATH": os.environ["PATH"]}
    assert run_cli(("sh", "-c", "echo gho_x; echo more"), environment) == "gho_x"
    assert run_cli(("sh", "-c", "echo gho_x; exit 1"), environment) == ""
    assert run_cli(("true",), environment) == ""
    assert run_cli((str(tmp_path / "absent"),), environment) == ""
