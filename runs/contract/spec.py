"""``factory.run-spec/v1``: the schema of a run spec, its defaults, and what both sides read from it."""

from collections.abc import Mapping
from typing import Any

from runs.contract.errors import Invalid
from runs.contract.schemas import schema_violation

SPEC_VERSION = "factory.run-spec/v1"
LARGEST_SPEC = 512 * 1024  # bytes, canonical
LARGEST_INPUT = 256 * 1024  # bytes, canonical
LARGEST_PROMPT_APPEND = 64 * 1024  # characters

WORKSPACE_KINDS = ("ephemeral", "artifacts", "repository", "worktree")
HASH = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
SHA = {"type": "string", "pattern": "^[0-9a-f]{40}$"}
REPOSITORY = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$"}
INSTANT = {"type": "string", "format": "date-time"}
ADAPTER = {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,31}$"}
BRANCH = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[^-]"}  # git would read -x as an option
TEXT = {"type": "string", "minLength": 1}
LABELS = {"type": "object", "additionalProperties": {"type": "string"}}

DEFAULTS: Mapping[str, Any] = {
    "input": {},
    "workspace": {"kind": "ephemeral"},
    "weightClass": "standard",
    "priority": 5,
    "timeoutSeconds": 1800,
    "verifySeconds": 0,
    "maxAttempts": 1,
    "maxEnvironmentRetries": 3,
    "resultPolicy": "strict",
    "artifactLimits": {"count": 64, "bytesEach": 64 * 1024**2, "bytesTotal": 256 * 1024**2},
    "mutating": False,
}
FLOW_DEFAULTS: Mapping[str, Any] = {**DEFAULTS, "maxAttempts": 2, "resultPolicy": "lenient"}

WORKSPACE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["kind"],
    "properties": {
        "kind": {"enum": list(WORKSPACE_KINDS)},
        "inputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["sha256", "as"],
                "properties": {"sha256": HASH, "as": {"type": "string", "minLength": 1, "maxLength": 255}},
            },
        },
        "repository": REPOSITORY,
        "repositoryId": {"type": ["integer", "string"]},
        "ref": TEXT,
        "sha": SHA,
        "branch": BRANCH,
        "baseRef": BRANCH,
        "headRepository": REPOSITORY,
        "create": {"type": "object", "required": ["from"], "properties": {"from": BRANCH}},
        "scratch": {"type": "boolean"},
        "fetch": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["repository", "sha"],
                "properties": {"repository": REPOSITORY, "sha": SHA},
            },
        },
        "expects": {"enum": ["none", "commit", "pushed"]},
    },
    "allOf": [
        {
            "if": {"properties": {"kind": {"const": "worktree"}}},
            "then": {"required": ["repository", "branch"]},
        },
        {
            "if": {"properties": {"kind": {"const": "repository"}}},
            "then": {"required": ["repository", "sha"]},
        },
        {"if": {"properties": {"kind": {"const": "artifacts"}}}, "then": {"required": ["inputs"]}},
    ],
}

SPEC_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [
        "schemaVersion",
        "runId",
        "createdAt",
        "agent",
        "defHash",
        "promptBinding",
        "input",
        "inputHash",
        "subject",
        "origin",
        "correlationId",
        "adapter",
        "workspace",
        "timeoutSeconds",
        "outputContract",
        "idempotencyKey",
    ],
    "properties": {
        "schemaVersion": {"const": SPEC_VERSION},
        "runId": {"type": "string", "pattern": "^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
        "createdAt": INSTANT,
        "agent": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,62}@[1-9][0-9]*$"},
        "defHash": HASH,
        "promptBinding": {"enum": ["pinned", "latest"]},
        "promptHash": HASH,
        "promptAppend": {"type": "string", "maxLength": LARGEST_PROMPT_APPEND},
        "input": {"type": "object"},
        "inputHash": HASH,
        "subject": TEXT,
        "repository": REPOSITORY,
        "flow": {
            "type": "object",
            "required": ["type", "subject", "generation", "step", "entry"],
            "properties": {
                "type": TEXT,
                "subject": TEXT,
                "generation": {"type": "integer", "minimum": 1},
                "step": TEXT,
                "entry": {"type": ["integer", "string"]},
            },
        },
        "origin": {
            "type": "object",
            "required": ["kind"],
            "properties": {
                "kind": {"enum": ["event", "flow", "workflow", "schedule", "edge", "operator"]},
                "source": TEXT,
                "eventId": TEXT,
                "edge": TEXT,
            },
        },
        "correlationId": TEXT,
        "causationId": TEXT,
        "adapter": ADAPTER,
        "model": TEXT,
        "modelTier": {"enum": ["strong", "standard", "light"]},
        "workspace": WORKSPACE_SCHEMA,
        "placement": LABELS,
        "weightClass": TEXT,
        "priority": {"type": "integer", "minimum": 0, "maximum": 9},
        "exclusiveKey": TEXT,
        "timeoutSeconds": {"type": "integer", "minimum": 10, "maximum": 86_400},
        "verifySeconds": {"type": "integer", "minimum": 0, "maximum": 86_400},
        "verify": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "argv", "timeoutSeconds"],
                "properties": {
                    "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
                    "argv": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                    "timeoutSeconds": {"type": "integer", "minimum": 1},
                    "baseline": {"type": "boolean"},
                },
            },
        },
        "maxAttempts": {"type": "integer", "minimum": 1, "maximum": 100},
        "maxEnvironmentRetries": {"type": "integer", "minimum": 0, "maximum": 100},
        "resultPolicy": {"enum": ["strict", "lenient"]},
        "outputContract": {"type": "string", "pattern": "^[a-z][a-z0-9.-]*/v[1-9][0-9]*$"},
        "budget": {
            "type": "object",
            "properties": {
                "usd": {"type": "number", "minimum": 0},
                "tokens": {"type": "integer", "minimum": 0},
            },
        },
        "artifactLimits": {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 0},
                "bytesEach": {"type": "integer", "minimum": 0},
                "bytesTotal": {"type": "integer", "minimum": 0},
            },
        },
        "capabilities": {"type": "object"},
        "harness": {"type": "object"},
        "sandbox": {"type": "object"},
        "mutating": {"type": "boolean"},
        "approvalPolicy": {"type": ["object", "string"]},
        "policyHash": HASH,
        "idempotencyKey": TEXT,
    },
}


def check_spec(document: Any) -> None:
    """Pass a well-formed spec; ``Invalid`` (``invalid_spec``) with ``details.path`` for the first error."""
    violation = schema_violation(SPEC_SCHEMA, document)
    if violation is not None:
        message = f"{violation.path}: {violation.message}"
        raise Invalid("invalid_spec", message, details={"path": violation.path})
    if spec_value(document, "verifySeconds") >= document["timeoutSeconds"]:
        message = "verifySeconds must be less than timeoutSeconds"
        raise Invalid("invalid_spec", message, details={"path": "$.verifySeconds"})
    needed = sum(int(command["timeoutSeconds"]) for command in document.get("verify", ()))
    if needed > spec_value(document, "verifySeconds"):
        message = f"the verify commands need {needed} s and verifySeconds grants less"
        raise Invalid("invalid_spec", message, details={"path": "$.verify"})


def spec_value(spec: Mapping[str, Any], name: str) -> Any:
    """A field of the spec, or its default where the spec leaves it out; None where there is no default."""
    if name == "artifactLimits":
        return {**DEFAULTS[name], **spec.get(name, {})}
    return spec.get(name, DEFAULTS.get(name))
