"""Receipts and journal hashes: what binds a run's spec, result, evidence and history to each other."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from runs.contract.canonical import document_hash
from runs.contract.instants import format_instant

RECEIPT_SCHEMA = "factory.receipt/v1"
RECEIPT_FIELDS = (
    "runId",
    "attempt",
    "specHash",
    "defHash",
    "promptHash",
    "inputHash",
    "outputContract",
    "artifactHash",
    "evidenceHash",
    "artifacts",
    "journalHead",
    "verification",
    "deadlineExtensions",
    "harness",
    "adapter",
    "model",
    "worker",
    "usage",
    "acceptedAt",
)


def build_receipt(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The whole receipt with ``receiptHash`` over all the rest; a missing field is a ``KeyError``."""
    body: dict[str, Any] = {"schemaVersion": RECEIPT_SCHEMA, **{name: fields[name] for name in RECEIPT_FIELDS}}
    return {**body, "receiptHash": document_hash(body)}


def receipt_verifies(receipt: Mapping[str, Any]) -> bool:
    """Whether the receipt's hash is the hash of its other fields."""
    body = {name: value for name, value in receipt.items() if name != "receiptHash"}
    return bool(receipt.get("receiptHash") == document_hash(body))


def record_hash(
    *,
    run_id: str,
    seq: int,
    kind: str,
    edge: str | None,
    from_state: str | None,
    to_state: str | None,
    actor: str,
    reason_code: str,
    detail: Mapping[str, Any],
    attempt: int | None,
    fencing_token: str | None,
    at: datetime,
    prev_hash: str,
) -> str:
    """Hash of one journal row; ``prev_hash`` of the first row is the run's specHash."""
    return document_hash(
        {
            "runId": run_id,
            "seq": seq,
            "kind": kind,
            "edge": edge,
            "fromState": from_state,
            "toState": to_state,
            "actor": actor,
            "reasonCode": reason_code,
            "detail": dict(detail),
            "attempt": attempt,
            "fencingToken": fencing_token,
            "at": format_instant(at),
            "prevHash": prev_hash,
        }
    )
