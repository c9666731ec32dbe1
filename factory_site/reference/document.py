"""The text of docs/reference.md."""

from __future__ import annotations

import inspect
import json
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from factory_site.api import api
from factory_site.reference.commands import command_rows
from runs.periodic import passes
from runs.policy import policy_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NO_OTHER_FILE = Path("policy.yaml.absent")  # so that the shipped file alone counts
METHODS = ("get", "post", "put", "patch", "delete")

TITLE = """# Reference

Generated from the code by `manage.py docs --write`. Settings stand in [README.md](README.md).
"""
COMMANDS = """## Commands

Also `manage.py test`, which runs the test suite, and every command of Django.
"""
ROUTES = """## Routes

With bodies and answers: `/api/openapi.json`, browsable at `/api/docs`. Beside them stand the console, the routes of
workers below `/worker/v1/`, and `/hooks/github`.
"""
PASSES = """## Periodic passes

Run by the tasks child of `serve`, each at its interval, and sooner when work is committed for it.
"""
POLICY = """## Policy

Keys of `policy.yaml` in the data folder; `fixtures/policy.yaml` holds every default.
"""


def reference(project: Path) -> str:
    """The whole document: the same for the same code on every machine."""
    commands = ((f"`{name}`", flags or " ", does) for name, flags, does in command_rows(project))
    parts = [
        TITLE,
        COMMANDS,
        _table(("`manage.py …`", "flags", "does"), commands),
        ROUTES,
        _table(("route", "does"), _routes()),
        PASSES,
        _table(("pass", "every", "does"), _passes()),
        POLICY,
        _table(("key", "default"), _policy(policy_read(NO_OTHER_FILE), "")),
    ]
    return "\n".join(parts)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _routes() -> Iterator[tuple[str, str]]:
    document: dict[str, Any] = api.get_openapi_schema()
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                operation = operations[method]
                text = operation.get("description") or operation.get("summary") or ""
                yield f"`{method.upper()} {path}`", _first_line(text)


def _passes() -> Iterator[tuple[str, str, str]]:
    for each in passes():
        text = inspect.getdoc(each.body) or ""
        yield f"`{each.name}`", f"{each.seconds:g} s", _first_line(text)


def _policy(block: BaseModel, place: str) -> Iterator[tuple[str, str]]:
    for name, field in type(block).model_fields.items():
        key, value = place + (field.alias or name), getattr(block, name)
        if isinstance(value, BaseModel):
            yield from _policy(value, f"{key}.")
        else:
            plain = block.model_dump(mode="json", by_alias=True)[field.alias or name]
            choices = typing.get_args(field.annotation) if typing.get_origin(field.annotation) is typing.Literal else ()
            others = [f"`{choice}`" for choice in choices if choice != value]
            shown = f"`{plain if isinstance(plain, str) and plain else json.dumps(plain)}`"
            yield f"`{key}`", shown + (f", or {', '.join(others)}" if others else "")


def _first_line(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
