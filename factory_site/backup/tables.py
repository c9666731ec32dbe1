"""Which tables a backup holds, and their rows as lines of JSON that fit either database."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from uuid import UUID

from django.apps import apps as installed
from django.conf import settings
from django.db.models import BinaryField

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.apps.registry import Apps
    from django.db.models import Field, Model

CHUNK = 500  # rows read or written together
ELSEWHERE = frozenset({"admin", "auth", "contenttypes", "sessions"})  # made by migrations, or worth nothing later


def kept_models(apps: Apps) -> list[type[Model]]:
    """Every model whose rows are kept, by label; ``apps`` may be those of a state of the migrations."""
    own = {config.label for config in installed.get_app_configs() if settings.BASE_DIR in Path(config.path).parents}
    found = [model for model in apps.get_models(include_auto_created=True) if model._meta.app_label in own]
    return sorted((model for model in found if not _refers_elsewhere(model)), key=lambda model: model._meta.label)


def rows_written(model: type[Model], alias: str, target: IO[bytes]) -> int:
    """Write the names of the columns and then a line for each row, by key, packed; return how many rows."""
    fields = _fields(model)
    rows = model._base_manager.using(alias).order_by("pk").values_list(*[field.attname for field in fields])
    count = 0
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=5, mtime=0) as packed:
        packed.write(_line([field.column for field in fields]))
        for row in rows.iterator(chunk_size=CHUNK):
            packed.write(_line(row))
            count += 1
    return count


def rows_read(model: type[Model], source: IO[bytes]) -> int:
    """Insert the rows as they were, keys included, in the caller's transaction; return how many."""
    known = {field.column: field for field in _fields(model)}
    count = 0
    with gzip.GzipFile(fileobj=source, mode="rb") as lines:
        fields = [known[name] for name in json.loads(lines.readline())]
        while batch := list(islice(cast("Iterator[bytes]", lines), CHUNK)):
            model._base_manager.bulk_create(_row(model, fields, json.loads(line)) for line in batch)
            count += len(batch)
    return count


def _refers_elsewhere(model: type[Model]) -> bool:
    """Whether it ties rows to those of an app that is not kept: groups and permissions, which nothing here uses."""
    related = {field.related_model for field in model._meta.fields if field.related_model}
    return any(each._meta.app_label in ELSEWHERE for each in related)


def _fields(model: type[Model]) -> list[Field[Any, Any]]:
    return [field for field in model._meta.local_concrete_fields if not field.generated]


def _row(model: type[Model], fields: Sequence[Field[Any, Any]], values: Sequence[Any]) -> Model:
    given = zip(fields, values, strict=True)
    return model(**{field.attname: _value(field, value) for field, value in given})


def _value(field: Field[Any, Any], value: Any) -> Any:
    if value is not None and isinstance(field, BinaryField):
        return base64.b64decode(value)
    return field.to_python(value)


def _line(values: Sequence[Any]) -> bytes:
    return json.dumps(values, default=_plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _plain(value: Any) -> str:
    """A value that JSON has no word for; an instant keeps its microseconds, for hashes are made over them."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, Decimal | UUID):
        return str(value)
    raise TypeError(f"a backup cannot hold a {type(value).__name__}")
