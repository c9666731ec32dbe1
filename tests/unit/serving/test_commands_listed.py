"""The list that a person sees who types `manage.py` and nothing else."""

from pathlib import Path

from factory_site.shell.cli import run
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
