"""Single rows by equal columns: found, inserted and updated by statements that are composed once and then kept.

Composing a statement costs the ORM several times what the database needs to execute it. On the way of every claim, sign
of life and result that is most of the work; everywhere else the ORM reads better. Statements, conversions and values
are the ORM's own, so a row from here and one from there are alike. No signals, no defaults of the database.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connections
from django.db.models import Model
from django.db.models.base import ModelState
from django.db.utils import DEFAULT_DB_ALIAS

from runs.rows.composed import Column, Form, Part, Statement, find_composed, insert_composed, update_composed
from runs.rows.direct import changed_by, on_one_way, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Row = TypeVar("Row", bound=Model)

FOUND = "found"  # the attribute of a row's state that keeps what was read

_statements: dict[tuple[object, ...], Statement] = {}


def row_find(
    model: type[Row],
    *,
    lock: bool = False,
    joined: str = "",
    only: tuple[str, ...] = (),
    **equal: Any,
) -> Row | None:
    """A row whose columns have these values (None: is null), or None; with ``lock`` it stays locked to the commit.

    Meant for unique columns: of several rows any one is returned. ``joined`` names a foreign key whose row is read with
    it. With ``only`` the other columns are read when asked for.
    """
    own = connections[DEFAULT_DB_ALIAS]
    names = tuple(sorted(equal))
    key = ("find", own.vendor, model, lock, joined, only, *((name, equal[name] is None) for name in names))
    statement = _statements.get(key)
    if statement is None:
        form = Form(lock=lock, joined=joined, only=only)
        statement = _statements[key] = find_composed(own, model, equal, form)
    asked = [value for name in names if (value := equal[name]) is not None]
    found = row_of(statement.text, _values(own, statement.columns, asked), own)
    if found is None:
        return None
    values = list(found)
    for position, converter, expression in statement.converters:
        if values[position] is not None:
            values[position] = converter(values[position], expression, own)
    row, *others = (_built(part, values, own.alias) for part in statement.parts)
    if others:
        setattr(row, joined, others[0])
    return row  # type: ignore[return-value]  # the first part is the model's


def row_new(model: type[Row], /, **columns: Any) -> Row:
    """A row that is not stored yet, with these columns by their attribute names and the fields' own defaults.

    As the constructor makes it, without its signals and its care for names: an unknown one is never written.
    """
    row = model.__new__(model)
    row._state = ModelState()  # noqa: SLF001 -- as in the ORM
    same, made = _defaults_of(model)
    row.__dict__.update(same)
    row.__dict__.update({name: make() for name, make in made.items() if name not in columns})
    row.__dict__.update(columns)
    return row


def row_insert(row: Model) -> None:
    """Insert the row as it is; an automatic key is set on it."""
    own = connections[DEFAULT_DB_ALIAS]
    statement = _insert_of(own, type(row))
    values = _inserted(own, statement, row)
    if statement.parts:
        row.pk = (row_of(statement.text, values, own) or (None,))[0]
    else:
        changed_by(statement.text, values, own)
    _is_stored(row, own.alias)


def row_insert_once(row: Model) -> bool:
    """Insert the row unless another one has what must be unique; whether it was inserted. Automatic keys only.

    What another transaction is about to commit is waited for.
    """
    own = connections[DEFAULT_DB_ALIAS]
    statement = _insert_of(own, type(row), once=True)
    found = row_of(statement.text, _inserted(own, statement, row), own)
    if found is None:
        return False
    row.pk = found[0]
    _is_stored(row, own.alias)
    return True


@contextmanager
def together() -> Iterator[None]:
    """Send the statements of this block to PostgreSQL at once, and learn at its end what became of them.

    For `rows_insert`, `row_save` and statements whose answer nobody needs: within the block it is not there yet.
    """
    own = connections[DEFAULT_DB_ALIAS]
    with on_one_way(own):
        yield


def rows_insert(rows: Sequence[Model]) -> None:
    """Insert rows of one model in one statement; their automatic keys stay unknown."""
    own = connections[DEFAULT_DB_ALIAS]
    model = type(rows[0])
    key = ("insert all", own.vendor, model, len(rows))
    statement = _statements.get(key) or _statements.setdefault(key, insert_composed(own, model, count=len(rows)))
    changed_by(statement.text, [value for row in rows for value in _inserted(own, statement, row)], own)


def row_save(row: Model) -> None:
    """Write the columns of a stored row that differ from what ``row_find`` read, or all where the ORM read it.

    A value that was changed in place, as JSON can be, counts as what was read.
    """
    meta: Any = type(row)._meta
    names = [field.attname for field in meta.concrete_fields if not field.primary_key]
    found: Mapping[str, Any] | None = getattr(row._state, FOUND, None)  # noqa: SLF001
    now = {name: getattr(row, name) for name in names}
    changed = now if found is None else {name: now[name] for name in names if now[name] != found[name]}
    if changed:
        row_update(type(row), {meta.pk.attname: row.pk}, changed)
        _remember(row)


def row_update(model: type[Model], where: Mapping[str, Any], columns: Mapping[str, Any]) -> int:
    """Write the columns where all of ``where`` is equal (no nulls); how many rows."""
    own = connections[DEFAULT_DB_ALIAS]
    key = ("update", own.vendor, model, tuple(columns), tuple(where))
    statement = _statements.get(key) or _statements.setdefault(
        key, update_composed(own, model, tuple(columns), tuple(where))
    )
    return changed_by(statement.text, _values(own, statement.columns, [*columns.values(), *where.values()]), own)


@lru_cache(maxsize=64)
def _defaults_of(model: type[Model]) -> tuple[Mapping[str, Any], Mapping[str, Callable[[], Any]]]:
    """What the constructor gives a column that is not named: the same value each time, or a new one."""
    meta: Any = model._meta
    made = {
        each.attname: each.default for each in meta.concrete_fields if each.has_default() and callable(each.default)
    }
    return {each.attname: each.get_default() for each in meta.concrete_fields if each.attname not in made}, made


def _built(part: Part, values: Sequence[Any], alias: str) -> Model:
    """The row as the ORM builds it, without signals."""
    row = part.model.__new__(part.model)
    row.__dict__.update(zip(part.names, values[part.begin : part.end], strict=True))
    row._state = ModelState()  # noqa: SLF001 -- as in the ORM
    _is_stored(row, alias)
    _remember(row)
    return row


def _remember(row: Model) -> None:
    """Keep the columns as they are stored now, for ``row_save`` to compare with."""
    setattr(row._state, FOUND, dict(row.__dict__))  # noqa: SLF001


def _insert_of(own: Any, model: type[Model], *, once: bool = False) -> Statement:
    key = ("insert", own.vendor, model, once)
    return _statements.get(key) or _statements.setdefault(key, insert_composed(own, model, once=once))


def _inserted(own: Any, statement: Statement, row: Model) -> list[Any]:
    return [column.prepared(getattr(row, column.attname), own) for column in statement.columns]


def _is_stored(row: Model, alias: str) -> None:
    row._state.adding = False  # noqa: SLF001 -- Django's documented way to build an instance by hand
    row._state.db = alias  # noqa: SLF001


def _values(own: Any, columns: Sequence[Column], values: Sequence[Any]) -> list[Any]:
    return [column.prepared(value, own) for column, value in zip(columns, values, strict=True)]
