"""Every command of the product with its flags, read from its own parser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from factory_site.demo.__main__ import parser as demo_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = {"--skip-checks", "--help"}  # of every command of the framework, and of every parser


def command_rows(project: Path) -> list[tuple[str, str, str]]:
    """(command with verb, flags, what it does) of the commands of the project's own apps, by name."""
    parsers = {"demo": demo_parser()}
    inside = {config.name for config in apps.get_app_configs() if Path(config.path).parent == project}
    for name, where in get_commands().items():
        if where in inside:
            command = load_command_class(where, name)
            parsers[name] = command.create_parser("manage.py", name)
    return [row for name in sorted(parsers) for row in _rows(name, parsers[name], parsers[name].description or "")]


def _rows(name: str, parser: argparse.ArgumentParser, does: str) -> Iterator[tuple[str, str, str]]:
    verbs = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001  # argparse tells its flags nowhere else
    if not verbs:
        yield name, " ".join(_flags(parser)), does
        return
    helps = {choice.dest: choice.help or "" for choice in verbs[0]._choices_actions}  # noqa: SLF001  # as above
    for verb, below in verbs[0].choices.items():
        yield from _rows(f"{name} {verb}", below, helps.get(verb, does))


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    framework = BaseCommand().create_parser("", "")
    known = OWN | {option for action in framework._actions for option in action.option_strings}  # noqa: SLF001  # as above
    for action in parser._actions:  # noqa: SLF001  # as above
        if not action.option_strings:
            yield f"`{str(action.metavar or action.dest).upper()}`"
        elif not known & set(action.option_strings) and action.help != argparse.SUPPRESS:
            yield f"`{_spelled(action)}`" if action.required else f"`[{_spelled(action)}]`"


def _spelled(action: argparse.Action) -> str:
    option = action.option_strings[-1]
    if action.nargs == 0:
        return option
    value = "/".join(map(str, action.choices)) if action.choices else action.metavar or action.dest.upper()
    return f"{option} {value}"
