"""The list that a person sees who types `manage.py` and nothing else."""

import os
from pathlib import Path

import pytest
from django.core.management.base import CommandError, CommandParser

from factory_site.shell import cli
from factory_site.shell.cli import run, with_verb
from factory_site.shell.commands_listed import LISTED

PROJECT = Path(__file__).resolve().parents[3]
BEFORE_DJANGO = {"demo", "test"}


def test_every_command_of_the_product_is_listed_once():
    listed = [name for commands in LISTED.values() for name in commands]
    shipped = {path.stem for path in PROJECT.glob("*/management/commands/[a-z]*.py")}
    assert sorted(listed) == sorted(shipped | BEFORE_DJANGO)


def test_help_lists_them_and_makes_no_data_folder(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    monkeypatch.setenv("FACTORY_HOME", str(home))
    for argv in ([], ["help"], ["--help"]):
        assert run(argv) == 0
        said = capsys.readouterr().out
        assert "\n  demo " in said
        assert "runserver" not in said
    assert not home.exists()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("workers", "workers list"),
        ("runs --json", "runs list --json"),
        ("workers --node=lab --all", "workers list --node=lab --all"),
        ("runs show x", "runs show x"),
        ("runs shwo x", "runs shwo x"),
        ("runs --help", "runs --help"),
        ("runs -h", "runs -h"),
        ("runs --traceback show x", "runs --traceback show x"),
        ("status --json", "status --json"),
        ("", ""),
    ],
)
def test_a_command_that_is_given_no_verb_lists(typed, meant):
    assert with_verb(typed.split()) == meant.split()


@pytest.mark.parametrize("command", ["work", "supervise"])
def test_wrong_flags_of_what_services_run_are_64(command, capsys):
    parser = CommandParser(prog=f"manage.py {command}", called_from_command_line=True)
    with pytest.raises(SystemExit) as ended:
        cli._mistake_told(parser, "unrecognized arguments: --bogus")
    assert ended.value.code == 64
    assert "--bogus" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["units"], ["units", "upstart"], ["docs", "--chekc"]])
def test_a_mistyped_command_is_told_in_one_line_with_where_to_read_on(wrong, monkeypatch, capsys):
    monkeypatch.setattr(CommandParser, "error", cli._mistake_told)
    monkeypatch.setattr("sys.argv", ["manage.py", *wrong])
    with pytest.raises(SystemExit) as ended:
        cli._execute(wrong)
    assert ended.value.code == cli.USAGE_ERROR
    said = capsys.readouterr().err
    assert said.startswith(f"manage.py {wrong[0]}")
    assert said.count("\n") == 1
    assert said.endswith(" --help\n")


def test_a_mistake_of_a_program_is_raised():
    with pytest.raises(CommandError, match="one: too much"):
        cli._mistake_told(CommandParser(prog="one"), "too much")


def test_an_authority_that_settings_env_names_is_what_every_process_trusts(tmp_path, monkeypatch, capsys):
    authority = tmp_path / "authority.pem"
    authority.write_text("")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "settings.env").write_text(f"REQUESTS_CA_BUNDLE={authority}\n")
    monkeypatch.setenv("FACTORY_HOME", str(home))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")
    monkeypatch.setattr(cli, "_one_line", lambda _: 0)
    assert run(["status"]) == 0
    assert os.environ["REQUESTS_CA_BUNDLE"] == str(authority)
    assert capsys.readouterr().err == ""
