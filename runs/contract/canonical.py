"""Canonical JSON and the hashes over it: the one form in which documents are compared, bound and stored."""

import hashlib
import json
import math
from typing import Any, NoReturn

from runs.contract.errors import Invalid

HASH_PREFIX = "sha256:"
LISTS = (list, tuple)
CONTAINERS = (dict, *LISTS)
DEEPEST = 100  # levels of a document; what walks through it, and whoever reads it later, has a stack to spare

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_bytes(document: Any) -> bytes:
    """UTF-8 of the document with sorted keys and no blanks; ``1`` and ``1.0`` stay different documents.

    Raises ``Invalid`` (``not_canonical``) for NaN, infinities, lone surrogates and keys that are no strings.
    """
    _refuse_foreign_keys(document)
    try:
        return _CANONICAL.encode(document).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        message = f"the document has no canonical form: {error}"
        raise Invalid("not_canonical", message) from error


def document_hash(document: Any) -> str:
    """``sha256:`` and 64 hex digits over the canonical form."""
    return bytes_hash(canonical_bytes(document))


def bytes_hash(content: bytes) -> str:
    """``sha256:`` and 64 hex digits over bytes as they are."""
    return HASH_PREFIX + hashlib.sha256(content).hexdigest()


def bare_hex(content_hash: str) -> str:
    """The 64 hex digits alone, as URLs and file names carry them."""
    return content_hash.removeprefix(HASH_PREFIX)


def parse_strict(content: bytes | str) -> Any:
    """The document that the text holds; ``Invalid`` (``invalid_json``) for everything JSON leaves open.

    Refused: text that is no UTF-8, duplicate keys, NaN, infinities (also ``1e999``), lone surrogates, and more than
    100 levels.
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        document = json.loads(
            text, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant, parse_float=_finite_float
        )
        if "\\u" in text or isinstance(content, str):  # UTF-8 itself holds no lone surrogate
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        message = f"not strict JSON: {error}"
        raise Invalid("invalid_json", message) from error
    if text.count("{") + text.count("[") > DEEPEST and nested_beyond(document, DEEPEST):
        message = f"the document is nested deeper than {DEEPEST} levels"
        raise Invalid("invalid_json", message)
    return document


def nested_beyond(document: Any, levels: int) -> bool:
    """Whether objects and lists stand within each other more than so many times."""
    layer = [document]
    for _ in range(levels + 1):
        layer = [each for each in layer if isinstance(each, CONTAINERS)]
        if not layer:
            return False
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
    return True


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        message = f"duplicate key {next(name for name in names if names.count(name) > 1)!r}"
        raise ValueError(message)
    return found


def _refuse_constant(word: str) -> NoReturn:
    message = f"{word} is not a JSON number"
    raise ValueError(message)


def _finite_float(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        _refuse_constant(word)
    return number


def _refuse_foreign_keys(document: Any) -> None:
    # json.dumps would turn a key such as 1 or None into text without a word.
    waiting = [document]
    for value in waiting:  # which grows on the way
        if isinstance(value, dict):
            foreign = next((key for key in value if not isinstance(key, str)), value)
            if foreign is not value:
                message = f"the key {foreign!r} is no string"
                raise Invalid("not_canonical", message)
            waiting.extend([each for each in value.values() if isinstance(each, CONTAINERS)])
        elif isinstance(value, LISTS):
            waiting.extend([each for each in value if isinstance(each, CONTAINERS)])
