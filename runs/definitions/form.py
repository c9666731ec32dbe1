"""The keys of a definition file: their types, bounds and defaults. What a later version brings is refused by name."""

from __future__ import annotations

from typing import Any

from runs.contract.spec import ADAPTER, LABELS, SPEC_SCHEMA, WORKSPACE_KINDS

DEFINITION_VERSION = "factory.agent-definition/v1"
LARGEST_PROMPT = 64 * 1024  # bytes

_LINE = {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[^\n]*$"}
_FILE = {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$"}
_SECONDS = {"type": "integer", "minimum": 10, "maximum": 86_400}
_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}}


def _closed(required: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


FORM = _closed(
    "id version title summary prompt input output outputContract",
    {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,62}$"},
        "version": {"type": "integer", "minimum": 1},
        "title": {**_LINE, "maxLength": 200},
        "summary": _LINE,
        "prompt": _FILE,
        "kind": {"enum": ["event", "flow"]},
        "promptBinding": {"enum": ["pinned", "latest"]},
        "input": _FILE,
        "output": _FILE,
        "outputContract": {"type": "string", "pattern": "^[a-z][a-z0-9.-]*/v[1-9][0-9]*$"},
        "adapter": ADAPTER,
        "model": {
            "oneOf": [
                _closed("tier", {"tier": {"enum": ["strong", "standard", "light"]}}),
                _closed("name", {"name": {"type": "string", "minLength": 1}}),
            ]
        },
        "workspace": _closed(
            "kind",
            {
                "kind": {"enum": list(WORKSPACE_KINDS)},
                "retainOnFailure": {"type": "boolean"},
                "expects": {"enum": ["none", "commit", "pushed"]},
            },
        ),
        "capabilities": _closed("", {"filesystem": {"enum": ["workspace"]}, "services": _NAMES, "tools": _NAMES}),
        "placement": LABELS,
        "repositories": _NAMES,
        "limits": _closed(
            "",
            {
                "timeoutSeconds": _SECONDS,
                "verifySeconds": {"type": "integer", "minimum": 0, "maximum": 86_400},
                "maxAttempts": {"type": "integer", "minimum": 1, "maximum": 100},
                "maxEnvironmentRetries": {"type": "integer", "minimum": 0, "maximum": 100},
                "artifacts": _closed(
                    "",
                    {
                        "count": {"type": "integer", "minimum": 0},
                        "bytesEach": {"type": "integer", "minimum": 0},
                        "bytesTotal": {"type": "integer", "minimum": 0},
                    },
                ),
            },
        ),
        "verify": SPEC_SCHEMA["properties"]["verify"],
        "resultPolicy": {"enum": ["strict", "lenient"]},
        "weightClass": {"type": "string", "minLength": 1},
        "priority": {"type": "integer", "minimum": 0, "maximum": 9},
        "mutating": {"type": "boolean"},
        "outsideText": {"type": "boolean"},
    },
)

EVENT_DEFAULTS: dict[str, Any] = {
    "kind": "event",
    "promptBinding": "pinned",
    "adapter": "any",
    "workspace": {"kind": "ephemeral"},
    "capabilities": {"filesystem": "workspace", "services": [], "tools": []},
    "placement": {},
    "repositories": ["*"],
    "limits": {"timeoutSeconds": 1800, "verifySeconds": 0, "maxAttempts": 1, "maxEnvironmentRetries": 3},
    "resultPolicy": "strict",
    "weightClass": "standard",
    "priority": 5,
    "mutating": False,
    "outsideText": False,
}
FLOW_DEFAULTS: dict[str, Any] = {
    **EVENT_DEFAULTS,
    "kind": "flow",
    "promptBinding": "latest",
    "limits": {**EVENT_DEFAULTS["limits"], "maxAttempts": 2},
    "resultPolicy": "lenient",
}


def normalised(stated: dict[str, Any]) -> dict[str, Any]:
    """The definition with its defaults; blocks of keys are filled key by key."""
    defaults = FLOW_DEFAULTS if stated.get("kind") == "flow" else EVENT_DEFAULTS
    filled = {**defaults, **stated}
    for block in ("workspace", "capabilities", "limits"):
        filled[block] = {**defaults[block], **stated.get(block, {})}
    return {"schemaVersion": DEFINITION_VERSION, **filled}
