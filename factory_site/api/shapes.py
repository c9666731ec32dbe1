"""Schemas of answers, made from the frozen dataclasses that pages and API share."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from ninja import Schema
from pydantic import ConfigDict, create_model
from pydantic.alias_generators import to_camel


class Wire(Schema):
    """An object of an answer: camelCase keys, and room for keys that come later."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


def wire_schema(declared: type, base: type[Wire] = Wire, *, without: Sequence[str] = ()) -> type[Wire]:
    """The schema of a dataclass, its dataclass fields included; ``base`` adds keys, ``without`` leaves fields out."""
    hints = typing.get_type_hints(declared)
    fields: dict[str, Any] = {
        field.name: (_shown(hints[field.name]), ...)
        for field in dataclasses.fields(declared)
        if field.name not in without and field.name not in base.model_fields
    }
    return create_model(declared.__name__, __base__=base, __doc__=declared.__doc__, **fields)


def _shown(hint: Any) -> Any:
    """The type as it is on the wire: an inner dataclass as its schema, any sequence as a list."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return wire_schema(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {Sequence, list, tuple}:
        return list[_shown(arguments[0])]  # type: ignore[misc]  # a type that is made here
    if origin in {Mapping, dict}:
        return dict[str, Any]
    if origin is types.UnionType:
        shown = [_shown(each) for each in arguments]
        made = shown[0]
        for each in shown[1:]:
            made |= each
        return made
    return hint
