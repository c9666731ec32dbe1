"""Whether a document fits a JSON Schema, as a function composed once: the answer of nearly every request is yes.

Only what the schemas here say is known; of any other keyword nothing is composed, and the full validator decides. So it
does of a document that does not fit, to tell what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Fits = Callable[[Any], bool]

ASSERTED = frozenset(
    {"type", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "minItems",
     "maxItems", "items", "properties", "required", "additionalProperties", "anyOf", "allOf", "if", "then"}
)  # fmt: skip
SAID = frozenset({"$schema", "$id", "title", "description", "default", "examples", "format"})  # these refuse nothing


class _Unknown(Exception):
    """A keyword, or a form of one, that is not composed here."""


def fits_of(schema: Mapping[str, Any]) -> Fits | None:
    """A function that is True for documents that fit; None when the schema says something that is not known here."""
    try:
        return _composed(schema)
    except (_Unknown, re.error):
        return None


def _composed(schema: Any) -> Fits:
    if isinstance(schema, bool):
        return lambda document: schema  # noqa: ARG005 -- a schema that is no question
    if not isinstance(schema, Mapping) or not (ASSERTED | SAID).issuperset(schema):
        raise _Unknown
    parts = [
        *_of_values(schema),
        *_of_texts(schema),
        *_of_numbers(schema),
        *_of_arrays(schema),
        *_of_objects(schema),
        *_of_several(schema),
    ]
    if len(parts) == 1:
        return parts[0]

    def fits(document: Any) -> bool:  # a loop, for `all` over a generator costs half as much again
        for part in parts:  # noqa: SIM110
            if not part(document):
                return False
        return True

    return fits


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


TYPES: dict[str, Fits] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}


def _of_values(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    if "type" in schema:
        named = schema["type"]
        names = [named] if isinstance(named, str) else named
        if not TYPES.keys() >= set(names):
            raise _Unknown
        kinds = [TYPES[name] for name in names]
        parts.append(kinds[0] if len(kinds) == 1 else lambda value: any(kind(value) for kind in kinds))
    known = [schema["const"]] if "const" in schema else schema.get("enum")
    if known is not None:
        if not all(isinstance(each, str | bool) for each in known):
            raise _Unknown  # among numbers, what is equal here may be another value there
        texts = frozenset(each for each in known if isinstance(each, str))
        flags = [each for each in known if isinstance(each, bool)]
        parts.append(lambda value: value in texts if isinstance(value, str) else any(value is each for each in flags))
    return parts


def _of_texts(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    if "pattern" in schema:
        search = re.compile(schema["pattern"]).search
        parts.append(lambda value: not isinstance(value, str) or search(value) is not None)
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least:
        parts.append(lambda value: not isinstance(value, str) or len(value) >= least)
    if most is not None:
        parts.append(lambda value: not isinstance(value, str) or len(value) <= most)
    return parts


def _of_numbers(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    least, most, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
    if least is not None:
        parts.append(lambda value: not _is_number(value) or value >= least)
    if most is not None:
        parts.append(lambda value: not _is_number(value) or value <= most)
    if above is not None:
        parts.append(lambda value: not _is_number(value) or value > above)
    return parts


def _of_arrays(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if least:
        parts.append(lambda value: not isinstance(value, list) or len(value) >= least)
    if most is not None:
        parts.append(lambda value: not isinstance(value, list) or len(value) <= most)
    if "items" in schema:
        item = _composed(schema["items"])
        parts.append(lambda value: not isinstance(value, list) or all(item(each) for each in value))
    return parts


def _of_objects(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    if required := schema.get("required"):
        parts.append(lambda value: not isinstance(value, dict) or all(name in value for name in required))
    properties = {name: _composed(each) for name, each in schema.get("properties", {}).items()}
    other = _composed(schema["additionalProperties"]) if "additionalProperties" in schema else None
    if other is not None:
        parts.append(
            lambda value: (
                not isinstance(value, dict) or all(properties.get(name, other)(each) for name, each in value.items())
            )
        )
    elif properties:
        parts.append(
            lambda value: (
                not isinstance(value, dict)
                or all(name not in properties or properties[name](each) for name, each in value.items())
            )
        )
    return parts


def _of_several(schema: Mapping[str, Any]) -> list[Fits]:
    parts: list[Fits] = []
    if "anyOf" in schema:
        some = [_composed(each) for each in schema["anyOf"]]
        parts.append(lambda value: any(each(value) for each in some))
    parts += [_composed(each) for each in schema.get("allOf", ())]
    if "if" in schema and "then" in schema:
        asked, then = _composed(schema["if"]), _composed(schema["then"])
        parts.append(lambda value: not asked(value) or then(value))
    return parts
