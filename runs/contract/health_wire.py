"""The JSON of what a worker says about its machine, for pages and doctor alone: nothing is decided by it."""

from typing import Any

_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string", "maxLength": 500}
PIDS: dict[str, Any] = {"type": "array", "maxItems": 1000, "items": {"type": "integer", "minimum": 1}}
HEALTH: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {
        "isolation": {
            "type": "object",
            "properties": {"level": _TEXT, "lacks": {"type": "array", "items": _TEXT}},
        },
        "adaptersMissing": {"type": "object", "additionalProperties": _TEXT},
        "kindsMissing": {"type": "object", "additionalProperties": _TEXT},
        "kept": {
            "type": "object",
            "properties": {
                "count": _COUNT,
                "bytes": _COUNT,
                "oldestAt": {"type": ["string", "null"], "format": "date-time"},
            },
        },
        "disk": {"type": "object", "properties": {"freeBytes": _COUNT, "totalBytes": _COUNT}},
        "unkillable": PIDS,
    },
}
