"""Commands with verbs: who acts, one line for what was refused, and rows for people or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from factory_site.beat import nudge_through_huey
from runs.commands import ProductCommand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

WIDEST = 60  # characters of one cell of a table


class Verbs(ProductCommand):
    """A command whose first word says what to do; each verb is a method `verb_<name>`."""

    def handle(self, **options: Any) -> None:
        """Run the verb; a refusal is one line that names the next command."""
        nudge_through_huey()
        getattr(self, f"verb_{options['verb'].replace('-', '_')}")(options)

    def show_json(self, document: Any) -> None:
        """Print the document as the API answers it."""
        self.stdout.write(json.dumps(document, cls=DjangoJSONEncoder, indent=2, ensure_ascii=False))

    def show_rows(self, titles: Sequence[str], rows: Sequence[Sequence[Any]], nothing: str) -> None:
        """Print a table, or one sentence when it is empty."""
        if not rows:
            self.stdout.write(nothing)
            return
        cells = [[_cell(value) for value in row] for row in [list(titles), *rows]]
        widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
        for row in cells:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def show_fields(self, fields: Mapping[str, Any]) -> None:
        """Print one line for each field that has a value."""
        for name, value in fields.items():
            if value not in (None, "", [], {}):
                self.stdout.write(f"{name}: {value}")


class Verb(Protocol):
    """One verb in a module of its own: ``HELP`` is its line, ``declare`` its arguments, ``perform`` what it does."""

    HELP: str

    def declare(self, parser: CommandParser) -> None:
        """Declare the verb's arguments."""

    def perform(self, command: Verbs, options: Mapping[str, Any]) -> None:
        """Do it, and print what came of it through the command."""


class Group(Verbs):
    """A command whose verbs are modules, by the word that a person types."""

    verbs: Mapping[str, Verb]

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare every verb."""
        below = parser.add_subparsers(dest="verb", required=True)
        for name, verb in self.verbs.items():
            verb.declare(below.add_parser(name, help=verb.HELP))

    def handle(self, **options: Any) -> None:
        """Run the verb; a refusal is one line that names the next command."""
        nudge_through_huey()
        self.verbs[options["verb"]].perform(self, options)


def reason_flag(parser: CommandParser, *, required: bool = False) -> None:
    """The flag that says why; the journal keeps it beside who did it."""
    parser.add_argument("--reason", default="", required=required, metavar="TEXT", help="why; stands in the journal")


def list_flags(parser: CommandParser) -> None:
    """The flags that every list takes."""
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="how many rows, 1 to 200 (default 50)")
    parser.add_argument("--json", action="store_true", help="print what the API answers")


def limit_of(options: Mapping[str, Any]) -> int:
    """The asked number of rows; raises CommandError outside 1 to 200."""
    limit: int = options["limit"]
    if not 1 <= limit <= 200:  # noqa: PLR2004 - as the API has it
        raise CommandError(f"--limit takes 1 to 200, not {limit}")
    return limit


def instant(at: datetime | None) -> str:
    """An instant for a table, in UTC."""
    return f"{at:%Y-%m-%d %H:%M:%S}Z" if at else "-"


def _cell(value: Any) -> str:
    text = " ".join(str("-" if value in (None, "") else value).split())
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
