"""Statements on single rows, composed as the ORM composes them, and how their answers become rows of models."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import AutoField, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What the ORM hands to the database as it is, by the field's class.
PLAIN: Mapping[type, type] = {
    models.CharField: str,
    models.TextField: str,
    models.BooleanField: bool,
    models.IntegerField: int,
    models.BigIntegerField: int,
    models.PositiveIntegerField: int,
    models.PositiveSmallIntegerField: int,
    models.PositiveBigIntegerField: int,
    models.AutoField: int,
    models.BigAutoField: int,
}


@dataclass(frozen=True, slots=True)
class Column:
    """Where a value goes. ``plain``: the type of what needs no preparation."""

    field: Any
    attname: str
    plain: type | None
    is_instant: bool  # in SQLite's form, which is text

    def prepared(self, value: Any, own: Any) -> Any:
        """The value as the ORM would hand it over."""
        kind = type(value)
        if value is None or kind is self.plain:
            return value
        if self.is_instant and kind is datetime and value.tzinfo is UTC:
            return str(value.replace(tzinfo=None))
        return self.field.get_db_prep_save(value, own)


@dataclass(frozen=True, slots=True)
class Part:
    """The columns of one model in an answer: from where to where, and their names."""

    model: type[Model]
    begin: int
    end: int
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """The text, the columns of its values in order, and how an answer becomes rows of models."""

    text: str
    columns: Sequence[Column]
    parts: Sequence[Part] = ()
    converters: Sequence[tuple[int, Any, Any]] = ()  # position, converter, expression


@dataclass(frozen=True, slots=True)
class Form:
    """How a row is looked for: locked, with a joined row, of some columns only."""

    lock: bool = False
    joined: str = ""
    only: tuple[str, ...] = ()


def find_composed(own: Any, model: type[Model], equal: Mapping[str, Any], form: Form) -> Statement:
    """The first row with these values; ``row_find`` says what the form means."""
    conditions = {f"{name}__isnull" if value is None else name: True if value is None else value
                  for name, value in equal.items()}  # fmt: skip
    rows = model._base_manager.select_for_update() if form.lock else model._base_manager.all()
    if form.joined:
        rows = rows.select_related(form.joined)
    if form.only:
        rows = rows.only(*form.only)
    compiler = rows.filter(**conditions).order_by()[:1].query.get_compiler(connection=own)
    text, _ = compiler.as_sql()
    selected = [column for column, *_ in compiler.select]
    asked = [_meta(model).get_field(name) for name in sorted(conditions) if not name.endswith("__isnull")]
    converters = [
        (position, converter, expression)
        for position, (several, expression) in compiler.get_converters(selected).items()
        for converter in several
    ]
    return Statement(text, _columns(own, asked), list(_parts([column.target for column in selected])), converters)


def _parts(fields: Sequence[Any]) -> Iterable[Part]:
    """One for each model of an answer, whose columns stand together."""
    begin = 0
    for end in range(1, len(fields) + 1):
        if end == len(fields) or fields[end].model is not fields[begin].model:
            yield Part(fields[begin].model, begin, end, [field.attname for field in fields[begin:end]])
            begin = end


def insert_composed(own: Any, model: type[Model], *, once: bool = False, count: int = 1) -> Statement:
    """So many new rows; ``once``: none where another row has what must be unique."""
    meta = _meta(model)
    fields = [field for field in meta.concrete_fields if not isinstance(field, AutoField)]
    quoted = own.ops.quote_name
    names = ", ".join(quoted(field.column) for field in fields)
    marks = ", ".join(["(" + ", ".join(["%s"] * len(fields)) + ")"] * count)
    text = f"INSERT INTO {quoted(meta.db_table)} ({names}) VALUES {marks}"  # noqa: S608 -- names of models alone
    if once:
        text += " ON CONFLICT DO NOTHING"
    if isinstance(meta.pk, AutoField) and count == 1:
        key = Part(model, 0, 1, [meta.pk.attname])
        return Statement(f"{text} RETURNING {quoted(meta.pk.column)}", _columns(own, fields), [key])
    return Statement(text, _columns(own, fields))


def update_composed(own: Any, model: type[Model], columns: Sequence[str], where: Sequence[str]) -> Statement:
    """These columns, where all of ``where`` are equal."""
    fields = [_meta(model).get_field(name) for name in (*columns, *where)]
    quoted = own.ops.quote_name
    written = [f"{quoted(field.column)} = %s" for field in fields]
    table, behind = quoted(_meta(model).db_table), len(columns)
    change, condition = ", ".join(written[:behind]), " AND ".join(written[behind:])
    text = f"UPDATE {table} SET {change} WHERE {condition}"  # noqa: S608 -- names of models alone
    return Statement(text, _columns(own, fields))


def _columns(own: Any, fields: Iterable[Any]) -> list[Column]:
    is_text = own.vendor == "sqlite"
    found = []
    for field in fields:
        stored = field.target_field if field.is_relation else field
        is_instant = is_text and type(stored) is models.DateTimeField
        found.append(Column(field, field.attname, PLAIN.get(type(stored)), is_instant))
    return found


def _meta(model: type[Model]) -> Any:
    return model._meta
