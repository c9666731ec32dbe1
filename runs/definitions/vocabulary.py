"""What a JSON Schema of a definition may say: the vocabulary of 2020-12, within one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Iterable

MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMAS = frozenset({"additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"})
SCHEMAS |= {"unevaluatedItems", "unevaluatedProperties"}
IDENTITY = frozenset({"$schema", "$id", "$ref", "$anchor", "$comment", "$dynamicRef", "$dynamicAnchor", "$vocabulary"})
NOTES = frozenset({"title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format"})
VALUES = frozenset({"type", "enum", "const", "pattern", "required", "dependentRequired", "uniqueItems", "multipleOf"})
BOUNDS = frozenset({"maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"})
COUNTS = frozenset({"maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties"})
CONTENT = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
KEYWORDS = MAPS_OF_SCHEMAS | LISTS_OF_SCHEMAS | SCHEMAS | IDENTITY | NOTES | VALUES | BOUNDS | COUNTS | CONTENT


def schema_checked(document: Any) -> None:
    """Pass a JSON Schema 2020-12 that stands for itself.

    Raises jsonschema's SchemaError for a malformed one, ValueError for a keyword that the vocabulary does not have and
    for a `$ref` that leaves the document.
    """
    Draft202012Validator.check_schema(document)
    _check_keywords(document)


def _check_keywords(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in KEYWORDS:
            raise ValueError(f"unknown keyword {key!r}")
        if key == "$ref" and not str(value).startswith("#"):
            raise ValueError(f"$ref {value!r} leaves the document")
        for inner in _subschemas(key, value):
            _check_keywords(inner)


def _subschemas(key: str, value: Any) -> Iterable[Any]:
    if key in MAPS_OF_SCHEMAS and isinstance(value, dict):
        return value.values()
    if key in LISTS_OF_SCHEMAS and isinstance(value, list):
        return value
    return (value,) if key in SCHEMAS else ()
