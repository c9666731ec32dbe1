"""What an agent gave as its result: the three channels, the form checks, and the parts of the document.

Pure functions over bytes and text; the worker applies all of them, the server those marked S in the rules.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.contract.canonical import canonical_bytes, nested_beyond, parse_strict
from runs.contract.codes import AGENT_REFUSALS, TerminalState
from runs.contract.errors import Invalid
from runs.contract.schemas import schema_violation
from runs.contract.wire import DECISION_VERSION, LARGEST_EVIDENCE

AGENT_RESULT = "factory.agent-result/v1"
LARGEST_RESULT = 1024**2  # bytes
DEEPEST_RESULT = 64  # levels; a submission adds some of its own
RESULT_PREFIXES = ("::factory:result:: ", "::nano:result:: ")
RESERVED_EVIDENCE = "workspace"  # the worker's own observation; what an agent writes there is dropped
_FENCE = re.compile(r"(?:^|\n)```[A-Za-z0-9_-]*[ \t]*\n(?P<body>.*?)\n```[ \t]*\s*\Z", re.DOTALL)

FULL_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["schemaVersion", "terminalState"],
    "properties": {
        "schemaVersion": {"const": AGENT_RESULT},
        "terminalState": {"enum": [TerminalState.COMPLETED, TerminalState.REFUSED]},
        "reasonCode": {"type": "string"},
        "artifact": True,
        "evidence": {"type": ["object", "null"]},
        "artifacts": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "required": ["path"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "maxLength": 1024},
                    "kind": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"},
                    "name": {"type": "string", "minLength": 1, "maxLength": 255},
                },
            },
        },
        "decision": {"type": ["object", "null"]},
        "learnings": {"type": ["array", "null"]},
        "usedMemos": {"type": ["array", "null"]},
        "nonce": {"type": "string"},
    },
}
DECISION_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["schemaVersion", "question", "options"],
    "properties": {
        "schemaVersion": {"const": DECISION_VERSION},
        "question": {"type": "string", "minLength": 1, "maxLength": 2000},
        "options": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "required": ["id", "label"],
                "properties": {
                    "id": {"type": "string", "minLength": 1, "maxLength": 64},
                    "label": {"type": "string", "minLength": 1, "maxLength": 500},
                    "effect": {"type": "string"},
                },
            },
        },
    },
}


class ContractViolation(Invalid):
    """A result that fails a check: code ``contract_violation``, the check in ``details``."""

    def __init__(self, check: str, message: str, **details: Any) -> None:
        """``check`` is one of the closed list of checks."""
        super().__init__("contract_violation", message, details={"check": check, **details})
        self.check = check


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The document that an agent gave, in one shape for both of its forms."""

    terminal_state: TerminalState
    reason_code: str
    artifact: Any = None
    has_artifact: bool = False
    evidence: Mapping[str, Any] | None = None
    artifacts: tuple[Mapping[str, Any], ...] = ()
    decision: Mapping[str, Any] | None = None
    learnings: tuple[Any, ...] = ()
    used_memos: tuple[Any, ...] = ()
    notes: tuple[str, ...] = field(default=())


def result_text(file_content: bytes | None, final_text: str) -> bytes | None:
    """The text given on the first channel that has one: file, result line, closing fenced block; else None."""
    if file_content is not None:
        return file_content
    line = last_line(final_text)
    for prefix in RESULT_PREFIXES:
        if line.startswith(prefix):
            return line.removeprefix(prefix).encode("utf-8", "replace")
    fenced = _FENCE.search(final_text)
    if fenced is not None and _is_json_object(fenced["body"]):
        return fenced["body"].encode("utf-8", "replace")
    return None


def last_line(text: str) -> str:
    """The last line that is not blank, without the blanks around it; empty if there is none."""
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")


def read_result(given: bytes | None, *, nonce: str | None = None) -> AgentResult:
    """Form checks 1 to 3 and the refusal's code: the result in one shape, or ``ContractViolation``.

    ``nonce`` is the attempt's; a document that carries another one was not given by this attempt.
    """
    if given is None:
        message = "the agent ended without giving a result on any channel"
        raise ContractViolation("missing_result", message)
    if len(given) > LARGEST_RESULT:
        message = f"the result has {len(given)} bytes; {LARGEST_RESULT} are allowed"
        raise ContractViolation("result_too_large", message)
    try:
        document = parse_strict(given)
    except Invalid as error:
        raise ContractViolation("invalid_json", error.message) from error
    if nested_beyond(document, DEEPEST_RESULT):
        message = f"the result is nested deeper than {DEEPEST_RESULT} levels"
        raise ContractViolation("invalid_json", message)
    if not isinstance(document, dict):
        message = "the result is no JSON object"
        raise ContractViolation("invalid_json", message)
    claimed = document.pop("nonce", None)
    if claimed is not None and nonce is not None and claimed != nonce:
        message = "the result names another attempt's nonce"
        raise ContractViolation("missing_result", message, reason="nonce_mismatch")
    return _shape(document)


def check_artifact(result: AgentResult, output_schema: Mapping[str, Any] | None) -> None:
    """Checks 4 and 5 of a completed result: an artifact, no decision, and the output schema."""
    if result.terminal_state is not TerminalState.COMPLETED:
        return
    if not result.has_artifact:
        message = "a completed result must carry an artifact"
        raise ContractViolation("missing_artifact", message)
    if result.decision is not None:
        message = "a completed result must not carry a decision"
        raise ContractViolation("missing_artifact", message)
    violation = schema_violation(output_schema, result.artifact) if output_schema is not None else None
    if violation is not None:
        raise ContractViolation("output_schema", violation.message, path=violation.path)


def check_evidence(evidence: Mapping[str, Any] | None) -> None:
    """Check 10: the evidence is at most 256 KiB in canonical form."""
    if evidence is not None and len(canonical_bytes(evidence)) > LARGEST_EVIDENCE:
        message = f"the evidence is larger than {LARGEST_EVIDENCE} bytes"
        raise ContractViolation("evidence_too_large", message)


def check_memos(learnings: Sequence[Any], definition: Mapping[str, Any]) -> None:
    """Check 14: an agent leaves only memos of the kinds that its definition declares."""
    allowed = definition.get("emits", {}).get("memos", [])
    for number, learning in enumerate(learnings):
        kind = learning.get("kind") if isinstance(learning, Mapping) else None
        if kind not in allowed:
            message = (
                f"learnings[{number}] is of kind {kind!r:.80}; the definition allows {', '.join(allowed) or 'none'}"
            )
            raise ContractViolation("memo_not_allowed", message, path=f"$.learnings[{number}]")


def merge_evidence(agent: Mapping[str, Any] | None, workspace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The agent's evidence with the reserved key replaced by the worker's observation, or None if empty."""
    merged = {key: value for key, value in (agent or {}).items() if key != RESERVED_EVIDENCE}
    if workspace is not None:
        merged[RESERVED_EVIDENCE] = dict(workspace)
    return merged or None


def decision_is_valid(decision: Mapping[str, Any]) -> bool:
    """Whether a decision request has the form that a human task can be made of."""
    return schema_violation(DECISION_FORM, decision) is None


def _shape(document: dict[str, Any]) -> AgentResult:
    if document.get("schemaVersion") != AGENT_RESULT:
        return AgentResult(
            terminal_state=TerminalState.COMPLETED, reason_code="ok", artifact=document, has_artifact=True
        )
    violation = schema_violation(FULL_FORM, document)
    if violation is not None:
        raise ContractViolation("result_schema", violation.message, path=violation.path)
    state = TerminalState(document["terminalState"])
    reason = document.get("reasonCode") or ("ok" if state is TerminalState.COMPLETED else "")
    if state is TerminalState.REFUSED and reason not in AGENT_REFUSALS:
        message = f"{reason!r} is not a reason that an agent may refuse with"
        raise ContractViolation("unknown_refusal_reason", message, path="$.reasonCode")
    decision = document.get("decision")
    notes: tuple[str, ...] = ()
    if state is TerminalState.REFUSED and decision is not None and not decision_is_valid(decision):
        decision, notes = None, ("decision_dropped",)
    return AgentResult(
        terminal_state=state,
        reason_code="ok" if state is TerminalState.COMPLETED else reason,
        artifact=document.get("artifact"),
        has_artifact=document.get("artifact") is not None,
        evidence=document.get("evidence"),
        artifacts=tuple(document.get("artifacts") or ()),
        decision=decision,
        learnings=tuple(document.get("learnings") or ()),
        used_memos=tuple(document.get("usedMemos") or ()),
        notes=notes,
    )


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
