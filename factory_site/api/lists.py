"""Lists by keyset: newest first, an opaque cursor, an ETag."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import re
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from ninja import Schema
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

MOST_ROWS = 200
CURSOR = re.compile(r"p\d{1,18}", re.ASCII)
Row = TypeVar("Row", bound="Model")


class Body(Schema):
    """A request's body: camelCase on the wire, and an unknown field is refused like a wrong one."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid")


class Page(Schema):
    """Where a list begins and how long it may be."""

    limit: int = Field(50, ge=1, le=MOST_ROWS)
    before: str | None = Field(None, max_length=100)


def window(rows: QuerySet[Row], page: Page, as_json: Callable[[Sequence[Row]], list[dict[str, Any]]]) -> dict[str, Any]:
    """One window of the rows, newest first, without counting them. A cursor of a removed row still works."""
    if page.before:
        rows = rows.filter(pk__lt=position(page.before))
    found = list(rows.order_by("-pk")[: page.limit + 1])
    shown = found[: page.limit]
    more = len(found) > page.limit
    return {"items": as_json(shown), "nextBefore": cursor(shown[-1].pk) if more else None}


def opaque(text: str) -> str:
    """A cursor that says nothing to its holder."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def transparent(given: str) -> str:
    """What an opaque cursor holds; raises ``Invalid`` for anything that no list gave."""
    with contextlib.suppress(ValueError, binascii.Error):
        return base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)).decode("ascii")
    raise no_cursor()


def cursor(key: int) -> str:
    """The cursor behind a row's key."""
    return opaque(f"p{key}")


def position(given: str) -> int:
    """The row's key of a cursor; raises ``Invalid`` for anything that is none."""
    text = transparent(given)
    if not CURSOR.fullmatch(text):
        raise no_cursor()
    return int(text[1:])


def no_cursor() -> Invalid:
    """What is wrong with a cursor that no list gave."""
    return Invalid(
        "invalid_field", "before is no cursor of this list; take it from nextBefore.", details={"field": "before"}
    )


def conditional(request: HttpRequest, document: Any) -> HttpResponse:
    """Answer the document, or 304 without a body when the caller has it already."""
    content = DjangoJSONEncoder(separators=(",", ":"), ensure_ascii=False).encode(document).encode()
    tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
    answer = HttpResponse(status=304) if tag in request.headers.get("If-None-Match", "") else HttpResponse(content)
    answer["ETag"] = tag
    answer["Content-Type"] = "application/json"
    answer["Cache-Control"] = "private, no-cache"
    return answer
