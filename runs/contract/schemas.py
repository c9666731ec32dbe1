"""JSON Schema 2020-12 as one question: what is wrong with a document, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import canonical_bytes, parse_strict

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """The most telling error: where (``$.a.b[0]``) and one sentence without the whole document."""

    path: str
    message: str


LONGEST_MESSAGE = 500  # characters; jsonschema quotes the offending value in full


def schema_violation(schema: Mapping[str, Any], document: Any) -> SchemaViolation | None:
    """The best error of a document against a schema, or None if it fits."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(canonical_bytes(schema)).iter_errors(document))
    if error is None:
        return None
    return SchemaViolation(path=error.json_path, message=error.message[:LONGEST_MESSAGE])


@lru_cache(maxsize=128)
def _validator(schema: bytes) -> "Validator":
    from jsonschema import Draft202012Validator

    return Draft202012Validator(parse_strict(schema))
