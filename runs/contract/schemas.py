"""JSON Schema 2020-12 as one question: what is wrong with a document, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import canonical_bytes, parse_strict
from runs.contract.fitting import Fits, fits_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema.protocols import Validator


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """The most telling error: where (``$.a.b[0]``) and one sentence without the whole document."""

    path: str
    message: str


LONGEST_MESSAGE = 500  # characters; jsonschema quotes the offending value in full


class Form:
    """A schema of our own, made ready at its first use and kept."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """``schema`` never changes afterwards."""
        self._content = canonical_bytes(schema)

    def violation(self, document: Any) -> SchemaViolation | None:
        """The best error of a document, or None if it fits."""
        return _violation(self._content, document)


def schema_violation(schema: Mapping[str, Any], document: Any) -> SchemaViolation | None:
    """The best error of a document against a schema, or None if it fits."""
    return _violation(canonical_bytes(schema), document)


def _violation(schema: bytes, document: Any) -> SchemaViolation | None:
    fits = _fits(schema)
    if fits is not None and fits(document):
        return None
    from jsonschema.exceptions import best_match

    error = best_match(_validator(schema).iter_errors(document))
    if error is None:
        return None
    return SchemaViolation(path=error.json_path, message=error.message[:LONGEST_MESSAGE])


@lru_cache(maxsize=256)
def _fits(schema: bytes) -> Fits | None:
    return fits_of(parse_strict(schema))


@lru_cache(maxsize=128)
def _validator(schema: bytes) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(parse_strict(schema))
