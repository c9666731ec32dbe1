"""Single rows by equal columns: found, inserted and updated by statements that are composed once and then kept.

Composing a statement costs the ORM several times what the database needs to execute it. On the way of every claim, sign
of life and result that is most of the work; everywhere else the ORM reads better. Statements, conversions and values
are the ORM's own, so a row from here and one from there are alike. No signals, no defaults of the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connections
from django.db.models import AutoField, Model
from django.db.utils import DEFAULT_DB_ALIAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class _Statement:
    """The text, the fields of its values in order, and how a row of its answer becomes the model's values."""

    text: str
    fields: Sequence[Any]
    names: Sequence[str] = ()
    converters: Mapping[int, Any] | None = None


_statements: dict[tuple[object, ...], _Statement] = {}


def row_find(model: type[Row], *, lock: bool = False, filled: str = "", **equal: Any) -> Row | None:
    """A row whose columns have these values (None: is null), or None; with ``lock`` it stays locked to the commit.

    Meant for unique columns: of several rows any one is returned. ``filled`` names the column that the condition of a
    partial index wants not to be blank; it stands in the statement as a literal, by which the index is found.
    """
    own = connections[DEFAULT_DB_ALIAS]
    names = tuple(sorted(equal))
    key = ("find", own.vendor, model, lock, filled, *((name, equal[name] is None) for name in names))
    statement = _statements.get(key) or _statements.setdefault(key, _find(own, model, equal, lock=lock, filled=filled))
    with own.cursor() as cursor:
        cursor.execute(statement.text, _values(own, statement.fields, [equal[name] for name in names]))
        found = cursor.fetchone()
    if found is None:
        return None
    values = list(found)
    for position, (converters, expression) in (statement.converters or {}).items():
        for converter in converters:
            values[position] = converter(values[position], expression, own)
    return model.from_db(own.alias, statement.names, values)


def row_insert(row: Model) -> None:
    """Insert the row as it is; an automatic key is set on it."""
    own = connections[DEFAULT_DB_ALIAS]
    model = type(row)
    key = ("insert", own.vendor, model)
    statement = _statements.get(key) or _statements.setdefault(key, _insert(own, model))
    values = [
        field.get_db_prep_save(field.pre_save(row, True), own)  # noqa: FBT003 -- Django's own shape
        for field in statement.fields
    ]
    with own.cursor() as cursor:
        cursor.execute(statement.text, values)
        if statement.names:
            row.pk = cursor.fetchone()[0]
    row._state.adding = False  # noqa: SLF001 -- Django's documented way to build an instance by hand
    row._state.db = own.alias  # noqa: SLF001


def row_save(row: Model) -> None:
    """Write every column of a stored row as it is now."""
    meta = _meta(type(row))
    columns = {field.attname: getattr(row, field.attname) for field in meta.concrete_fields if not field.primary_key}
    row_update(type(row), {meta.pk.attname: row.pk}, columns)


def row_update(model: type[Model], where: Mapping[str, Any], columns: Mapping[str, Any]) -> int:
    """Write the columns where all of ``where`` is equal (no nulls); how many rows."""
    own = connections[DEFAULT_DB_ALIAS]
    key = ("update", own.vendor, model, tuple(columns), tuple(where))
    statement = _statements.get(key) or _statements.setdefault(key, _update(own, model, tuple(columns), tuple(where)))
    with own.cursor() as cursor:
        cursor.execute(statement.text, _values(own, statement.fields, [*columns.values(), *where.values()]))
        return int(cursor.rowcount)


def _find(own: Any, model: type[Model], equal: Mapping[str, Any], *, lock: bool, filled: str) -> _Statement:
    conditions = {f"{name}__isnull" if value is None else name: True if value is None else value
                  for name, value in equal.items()}  # fmt: skip
    rows = model._base_manager.select_for_update() if lock else model._base_manager.all()
    if filled:
        rows = rows.extra(where=[f"NOT ({own.ops.quote_name(filled)} = '')"])  # noqa: S610 -- a model's column
    compiler = rows.filter(**conditions).order_by()[:1].query.get_compiler(connection=own)
    text, _ = compiler.as_sql()
    selected = [column for column, *_ in compiler.select]
    fields = [_meta(model).get_field(name) for name in sorted(conditions) if not name.endswith("__isnull")]
    return _Statement(text, fields, [column.target.attname for column in selected], compiler.get_converters(selected))


def _insert(own: Any, model: type[Model]) -> _Statement:
    meta = _meta(model)
    fields = [field for field in meta.concrete_fields if not isinstance(field, AutoField)]
    quoted = own.ops.quote_name
    names = ", ".join(quoted(field.column) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    text = f"INSERT INTO {quoted(meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608 -- names of models alone
    if isinstance(meta.pk, AutoField):
        return _Statement(f"{text} RETURNING {quoted(meta.pk.column)}", fields, (meta.pk.attname,))
    return _Statement(text, fields)


def _update(own: Any, model: type[Model], columns: Sequence[str], where: Sequence[str]) -> _Statement:
    fields = [_meta(model).get_field(name) for name in (*columns, *where)]
    quoted = own.ops.quote_name
    written = [f"{quoted(field.column)} = %s" for field in fields]
    table, behind = quoted(_meta(model).db_table), len(columns)
    change, condition = ", ".join(written[:behind]), " AND ".join(written[behind:])
    text = f"UPDATE {table} SET {change} WHERE {condition}"  # noqa: S608 -- names of models alone
    return _Statement(text, fields)


def _meta(model: type[Model]) -> Any:
    return model._meta


def _values(own: Any, fields: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    given = [value for value in values if value is not None] if len(values) > len(fields) else values
    return [field.get_db_prep_save(value, own) for field, value in zip(fields, given, strict=True)]
