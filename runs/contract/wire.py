"""The JSON of ``/worker/v1``: one schema for each request body and answer, size limits and the shared header.

Unknown fields are ignored on both sides; a missing or mistyped known field is ``malformed``.
"""

from typing import Any

from runs.contract.codes import REFUSALS, Phase, TerminalState
from runs.contract.errors import Invalid
from runs.contract.health_wire import HEALTH
from runs.contract.pool_wire import pool_answer, pool_request
from runs.contract.schemas import Form
from runs.contract.spec import HASH, INSTANT, LABELS, SPEC_VERSION

API_VERSION = "factory.worker-api/v1"
PROTOCOL_VERSION = 1
RESULT_VERSION = "factory.run-result/v1"
DECISION_VERSION = "factory.decision-request/v1"
SPEC_VERSIONS = (SPEC_VERSION,)

BODY_LIMITS: dict[str, int] = {  # bytes of a request body, counted before it is parsed
    "hello": 64 * 1024,
    "claim": 64 * 1024,
    "heartbeat": 32 * 1024,
    "trace": 512 * 1024,
    "result": 2 * 1024**2,
    "pool": 64 * 1024,
    "bye": 4 * 1024,
}
LARGEST_DETAIL = 8 * 1024  # bytes of a failure's detail, canonical
LARGEST_EVIDENCE = 256 * 1024  # bytes, canonical
TRACE_ROWS = 200  # rows of one batch
HEARTBEAT_WAIT = 14  # seconds that a heartbeat's answer may be held
CLAIM_WAIT = 25  # seconds that a claim's answer may be held

TRACE_KINDS = ("assistant_text", "tool_use", "tool_result", "usage", "lifecycle", "trace_truncated")
BYE_REASONS = ("drained", "reload", "stopped", "max_runs")
VERIFY_REASONS = ("agent_exited", "late_completion")

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}}
_COUNT = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL = {"type": ["integer", "null"], "minimum": 0}
_MONEY_OR_NULL = {"type": ["number", "null"], "minimum": 0}
_TOKEN = {"type": "string", "pattern": "^[0-9]{1,20}$"}
_ATTEMPT = {"type": "integer", "minimum": 1}
_INSTANT_OR_NULL = {"type": ["string", "null"], "format": "date-time"}
_HASH_OR_NULL = {"type": ["string", "null"], "pattern": "^sha256:[0-9a-f]{64}$"}
_OBJECT_OR_NULL = {"type": ["object", "null"]}


def _object(required: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties}


USAGE = _object(
    "",
    {
        "inputTokens": _COUNT_OR_NULL,
        "outputTokens": _COUNT_OR_NULL,
        "cacheReadTokens": _COUNT_OR_NULL,
        "cacheWriteTokens": _COUNT_OR_NULL,
        "turns": _COUNT_OR_NULL,
        "costUsd": _MONEY_OR_NULL,
        "model": _TEXT_OR_NULL,
    },
)
OFFER_PROPERTIES: dict[str, Any] = {
    "labels": LABELS,
    "adapters": _NAMES,
    "anyAdapter": _TEXT_OR_NULL,
    "adapterOverride": _TEXT_OR_NULL,
    "workspaceKinds": _NAMES,
    "repositories": _NAMES,
}
ARTIFACT_REF = _object(
    "kind name sha256 sizeBytes",
    {
        "kind": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"},
        "name": {"type": "string", "minLength": 1, "maxLength": 255},
        "sha256": HASH,
        "sizeBytes": _COUNT,
    },
)
EXECUTION = _object(
    "adapter timedOut late durationMs",
    {
        "adapter": _TEXT,
        "model": _TEXT_OR_NULL,
        "exitCode": {"type": ["integer", "null"]},
        "signal": {"type": ["integer", "null"]},
        "timedOut": {"type": "boolean"},
        "late": {"type": "boolean"},
        "durationMs": _COUNT,
        "usage": {"anyOf": [USAGE, {"type": "null"}]},
    },
)
RESULT_DOCUMENT = _object(
    "schemaVersion runId attempt terminalState reasonCode outputContract artifact artifactHash verification artifacts",
    {
        "schemaVersion": {"const": RESULT_VERSION},
        "runId": _TEXT,
        "attempt": _ATTEMPT,
        "terminalState": {"enum": [TerminalState.COMPLETED, TerminalState.REFUSED]},
        "reasonCode": _TEXT,
        "outputContract": _TEXT,
        "artifact": True,
        "artifactHash": _HASH_OR_NULL,
        "evidence": _OBJECT_OR_NULL,
        "evidenceHash": _HASH_OR_NULL,
        "verification": _object(
            "status checks", {"status": {"enum": ["passed", "defaulted", "refused"]}, "checks": _NAMES}
        ),
        "artifacts": {"type": "array", "items": ARTIFACT_REF},
        "decision": _OBJECT_OR_NULL,
        "learnings": {"type": "array"},
        "usedMemos": {"type": "array"},
    },
)
TRACE_BATCH: dict[str, Any] = {
    "type": "array",
    "maxItems": TRACE_ROWS,
    "items": _object(
        "seq at kind payload",
        {
            "seq": {"type": "integer", "minimum": 1},
            "at": INSTANT,
            "kind": _TEXT,
            "payload": {"type": "object"},
        },
    ),
}

REQUESTS: dict[str, dict[str, Any]] = {
    "hello": _object(
        "protocolVersion workerVersion host pid specVersions labels adapters workspaceKinds repositories",
        {
            "protocolVersion": {"type": "integer"},
            "workerVersion": {"type": "string", "minLength": 1, "maxLength": 100},
            "host": {"type": "string", "maxLength": 255},
            "pid": {"type": "integer", "minimum": 1},
            "specVersions": _NAMES,
            **OFFER_PROPERTIES,
            "pool": _TEXT_OR_NULL,
            "slot": _COUNT_OR_NULL,
            "quarantined": _COUNT,
            "blockedReason": _TEXT_OR_NULL,
            "health": HEALTH,
            "time": INSTANT,
        },
    ),
    "claim": _object(
        "protocolVersion workerVersion specVersions labels adapters workspaceKinds repositories",
        {
            "protocolVersion": {"type": "integer"},
            "workerVersion": {"type": "string", "minLength": 1, "maxLength": 100},
            "specVersions": _NAMES,
            **OFFER_PROPERTIES,
            "waitSeconds": {"type": "number", "minimum": 0},
        },
    ),
    "heartbeat": _object(
        "attempt fencingToken sequence phase",
        {
            "attempt": _ATTEMPT,
            "fencingToken": _TOKEN,
            "sequence": {"type": "integer", "minimum": 1},
            "phase": {"enum": list(Phase)},
            "waitSeconds": {"type": "number", "minimum": 0},
            "usage": {"anyOf": [USAGE, {"type": "null"}]},
            "draining": {"type": "boolean"},
            "atDeadline": {"type": "boolean"},
            "reasonCode": {"enum": list(VERIFY_REASONS)},
        },
    ),
    "trace": _object(
        "attempt fencingToken rows",
        {
            "attempt": _ATTEMPT,
            "fencingToken": _TOKEN,
            "rows": TRACE_BATCH,
        },
    ),
    "result": {
        **_object(
            "attempt fencingToken terminalState reasonCode artifactRefs execution",
            {
                "attempt": _ATTEMPT,
                "fencingToken": _TOKEN,
                "terminalState": {"enum": list(TerminalState)},
                "reasonCode": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"},
                "result": {"anyOf": [RESULT_DOCUMENT, {"type": "null"}]},
                "detail": _OBJECT_OR_NULL,
                "retryAt": _INSTANT_OR_NULL,
                "artifactRefs": {"type": "array", "items": ARTIFACT_REF},
                "execution": EXECUTION,
                "specHash": HASH,
                "defHash": HASH,
                "trace": TRACE_BATCH,
            },
        ),
        "if": {"properties": {"terminalState": {"enum": [TerminalState.COMPLETED, TerminalState.REFUSED]}}},
        "then": {"required": ["result"], "properties": {"result": {"type": "object"}}},  # its form is said above
    },
    "pool": pool_request(OFFER_PROPERTIES),
    "bye": _object("reason", {"reason": {"enum": list(BYE_REASONS)}}),
}

_ANSWER = {"schemaVersion": {"const": API_VERSION}, "serverTime": INSTANT}
_LEASE = {
    "leaseExpiresAt": INSTANT,
    "heartbeatDueAt": INSTANT,
    "budgetLeft": {
        "anyOf": [_object("", {"usd": _MONEY_OR_NULL, "tokens": _COUNT_OR_NULL}), {"type": "null"}],
    },
}
CLAIM = _object(
    "runId attempt fencingToken leaseExpiresAt heartbeatDueAt heartbeatEveryMs adapter specHash spec definition "
    "documents",
    {
        "runId": _TEXT,
        "attempt": _ATTEMPT,
        "fencingToken": _TOKEN,
        **_LEASE,
        "heartbeatEveryMs": {"type": "integer", "minimum": 1},
        "adapter": _TEXT,
        "model": _TEXT_OR_NULL,
        "specHash": HASH,
        "spec": {"type": "object"},
        "definition": {"type": "object"},
        "prompt": {
            "anyOf": [_object("name hash text", {"name": _TEXT, "hash": HASH, "text": _TEXT}), {"type": "null"}]
        },
        "documents": {
            "type": "array",
            "items": _object(
                "kind name hash sizeBytes", {"kind": _TEXT, "name": _TEXT, "hash": HASH, "sizeBytes": _COUNT}
            ),
        },
    },
)
ANSWERS: dict[str, dict[str, Any]] = {
    "hello": _object(
        "schemaVersion serverTime workerId node heartbeatEveryMs livenessSeconds maxWaitSeconds",
        {
            **_ANSWER,
            "workerId": _TEXT,
            "node": _TEXT,
            "heartbeatEveryMs": {"type": "integer", "minimum": 1},
            "livenessSeconds": {"type": "number", "exclusiveMinimum": 0},
            "maxWaitSeconds": {"type": "number", "minimum": 0},
            "minWorkerVersion": _TEXT_OR_NULL,
            "serverVersion": _TEXT,
            "git": _object("name email", {"name": _TEXT, "email": _TEXT}),
        },
    ),
    "claim": _object(
        "schemaVersion serverTime claim",
        {
            **_ANSWER,
            "claim": {"anyOf": [CLAIM, {"type": "null"}]},
            "reason": _TEXT,
            "retryAfterMs": _COUNT,
        },
    ),
    "heartbeat": _object(
        "schemaVersion serverTime leaseExpiresAt heartbeatDueAt cancel",
        {
            **_ANSWER,
            **_LEASE,
            "agentDeadlineAt": _INSTANT_OR_NULL,
            "deadlineRecorded": {"type": "boolean"},
            "cancel": _object("requested", {"requested": {"type": "boolean"}, "reason": _TEXT_OR_NULL}),
        },
    ),
    "trace": _object(
        "schemaVersion nextSeq full",
        {**_ANSWER, "nextSeq": {"type": "integer", "minimum": 1}, "full": {"type": "boolean"}},
    ),
    "upload": _object(
        "schemaVersion sizeBytes mediaType sha256",
        {"schemaVersion": {"const": API_VERSION}, "sizeBytes": _COUNT, "mediaType": _TEXT, "sha256": HASH},
    ),
    "result": _object(
        "schemaVersion serverTime accepted runId attempt terminalState runState",
        {
            **_ANSWER,
            "accepted": {"const": True},
            "runId": _TEXT,
            "attempt": _ATTEMPT,
            "terminalState": {"enum": list(TerminalState)},
            "runState": _TEXT,
            "receipt": _OBJECT_OR_NULL,
        },
    ),
    "pool": pool_answer(_ANSWER),
    "bye": _object("schemaVersion serverTime", _ANSWER),
    "error": _object(
        "error",
        {
            "schemaVersion": {"const": API_VERSION},
            "error": _object(
                "code message",
                {"code": _TEXT, "message": _TEXT, "retryable": {"type": "boolean"}, "details": _OBJECT_OR_NULL},
            ),
        },
    ),
}

_REQUEST_FORMS = {name: Form(schema) for name, schema in REQUESTS.items()}
_ANSWER_FORMS = {name: Form(schema) for name, schema in ANSWERS.items()}


def check_request(name: str, document: Any) -> None:
    """Pass a well-formed body of the named request; ``Invalid`` (``malformed``) with ``details.path``."""
    _check(_REQUEST_FORMS[name], document)
    if (
        name == "result"
        and document["terminalState"] == TerminalState.REFUSED
        and document["reasonCode"] not in REFUSALS
    ):
        message = f"$.reasonCode: {document['reasonCode']} is no refusal"
        raise Invalid("malformed", message, details={"path": "$.reasonCode"})


def check_answer(name: str, document: Any) -> None:
    """Pass a well-formed answer of the named request; ``Invalid`` (``malformed``) with ``details.path``."""
    _check(_ANSWER_FORMS[name], document)


def error_body(code: str, message: str, *, retryable: bool, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """The one shape of every error answer."""
    return {
        "schemaVersion": API_VERSION,
        "error": {"code": code, "message": message, "retryable": retryable, "details": details or {}},
    }


def _check(form: Form, document: Any) -> None:
    violation = form.violation(document)
    if violation is not None:
        message = f"{violation.path}: {violation.message}"
        raise Invalid("malformed", message, details={"path": violation.path})
