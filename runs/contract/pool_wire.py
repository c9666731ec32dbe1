"""The JSON of ``/worker/v1/pool``: a supervisor's report, and the counts that it decides by."""

from typing import Any

from runs.contract.health_wire import PIDS
from runs.contract.pool import LARGEST_POOL, POOL_PATTERN

LONGEST_LINE = 500  # characters of the last line of a worker that died at its start

_COUNT = {"type": "integer", "minimum": 0}
_MIN = {"type": "integer", "minimum": 0, "maximum": LARGEST_POOL}
_MAX = {"type": "integer", "minimum": 1, "maximum": LARGEST_POOL}
_ID_OR_NULL = {"type": ["string", "null"], "maxLength": 128}


def pool_request(offer: dict[str, Any]) -> dict[str, Any]:
    """The schema of a report; ``offer`` holds the properties that an offer has in every request."""
    return {
        "type": "object",
        "required": ["protocolVersion", "pool", "supervisorVersion", "min", "max", "stopping", "offer", "workers",
                     "decision"],
        "properties": {
            "protocolVersion": {"type": "integer"},
            "pool": {"type": "string", "pattern": f"^{POOL_PATTERN.pattern}$"},
            "supervisorVersion": {"type": "string", "minLength": 1, "maxLength": 100},
            "host": {"type": "string", "maxLength": 255},
            "min": _MIN,
            "max": _MAX,
            "stopping": {"type": "boolean"},
            "offer": {
                "type": "object",
                "required": ["labels", "adapters", "workspaceKinds", "repositories"],
                "properties": offer,
            },
            "workers": {
                "type": "array",
                "maxItems": LARGEST_POOL,
                "items": {
                    "type": "object",
                    "required": ["slot", "workerId", "draining"],
                    "properties": {
                        "slot": {"type": "integer", "minimum": 1},
                        "workerId": _ID_OR_NULL,
                        "draining": {"type": "boolean"},
                    },
                },
            },
            "decision": {
                "type": "object",
                "required": ["action", "reason"],
                "properties": {
                    "action": {"type": "string", "minLength": 1, "maxLength": 20},
                    "reason": {"type": "string", "minLength": 1, "maxLength": 40},
                },
            },
            "crashes": {
                "type": "object",
                "required": ["inARow"],
                "properties": {"inARow": _COUNT, "lastLine": {"type": "string", "maxLength": LONGEST_LINE}},
            },
            "unkillable": PIDS,
        },
    }  # fmt: skip


def pool_answer(every: dict[str, Any]) -> dict[str, Any]:
    """The schema of the answer; ``every`` holds the properties that all answers have."""
    return {
        "type": "object",
        "required": [*every, "claimable", "idle", "busy", "draining", "lost", "min", "max", "workers"],
        "properties": {
            **every,
            "nextInMs": _COUNT,
            "livenessSeconds": {"type": "number", "exclusiveMinimum": 0},
            "claimable": _COUNT,
            "claimableCapped": {"type": "boolean"},
            "blocked": {"type": "object", "properties": {"paused": _COUNT, "limits": _COUNT}},
            **dict.fromkeys(("idle", "busy", "draining", "lost"), _COUNT),
            "min": _MIN,
            "max": _MAX,
            "workers": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["workerId", "state", "lost", "heldAttempt"],
                    "properties": {
                        "workerId": {"type": "string"},
                        "state": {"type": "string"},
                        "runId": _ID_OR_NULL,
                        "lastSeenAt": {"type": "string", "format": "date-time"},
                        "lost": {"type": "boolean"},
                        "heldAttempt": {"type": "boolean"},
                    },
                },
            },
        },
    }
