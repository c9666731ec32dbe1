"""What an answer of GitHub means, as one error of the product's tree; third-party words are mapped here only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from convergence.forge.wire.transport import Exchange
from runs.contract.errors import FactoryError, Invalid, NotFound, Permanent, Refused, Transient

LONGEST_MESSAGE = 500  # characters of GitHub's own words that are kept
GATEWAY = frozenset({502, 503, 504})


@dataclass(frozen=True, slots=True)
class Answer:
    """A good REST answer. ``body`` is ``None`` for an empty one; ``next_url`` is the next page of a list."""

    status: int
    body: Any
    headers: Mapping[str, str]
    next_url: str | None
    moved_to: str | None


def document(exchange: Exchange) -> Any:
    """Return the JSON of an answer; ``Transient`` when it is something else, such as a proxy's page."""
    if not exchange.content:
        return None
    try:
        return json.loads(exchange.content)
    except ValueError as error:
        raise Transient(
            "forge_unavailable",
            f"GitHub answered {exchange.status} with something that is not JSON",
            details={"status": exchange.status, "sent": True},
        ) from error


def message_of(exchange: Exchange) -> str:
    """Return GitHub's own sentence, with what it says about single fields; never longer than 500 characters."""
    try:
        body = json.loads(exchange.content)
    except ValueError:
        body = None
    if not isinstance(body, Mapping):
        return f"HTTP {exchange.status}"
    words = [str(body.get("message") or f"HTTP {exchange.status}")]
    errors = body.get("errors")
    for item in errors if isinstance(errors, list) else [errors] if errors else []:
        words.append(str(item.get("message") or item.get("code") or "") if isinstance(item, Mapping) else str(item))
    return "; ".join(word for word in words if word)[:LONGEST_MESSAGE]


def error_of(exchange: Exchange) -> FactoryError:
    """Return the error that a status from 400 on means; limits and 401 are judged before by the client."""
    status, message = exchange.status, message_of(exchange)
    details = {"status": status}
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Transient("forge_unavailable", f"GitHub is not available: {message}", details={**details, "sent": True})
    if status == HTTPStatus.UNAUTHORIZED:
        return Permanent("forge_unauthorised", f"GitHub does not accept the token: {message}", details=details)
    if status == HTTPStatus.FORBIDDEN:
        return Permanent("forge_forbidden", f"GitHub forbids it: {message}", details=details)
    if status == HTTPStatus.NOT_FOUND:
        return NotFound("forge_not_found", f"GitHub does not find it: {message}", details=details)
    if status in (HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.CONFLICT):
        return Refused("forge_refused", message, details=details)
    if status in (HTTPStatus.GONE, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS):
        return Permanent("forge_gone", f"GitHub says that it is gone: {message}", details=details)
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return Invalid("forge_invalid", message, details=details)
    return Permanent("forge_rejected", f"GitHub rejects the request: {message}", details=details)


def alias_error(error: Mapping[str, Any]) -> FactoryError:
    """Return what a GraphQL error at a path means, for that alias alone."""
    kind, message = str(error.get("type") or ""), str(error.get("message") or "")[:LONGEST_MESSAGE]
    details = {"type": kind}
    if kind == "NOT_FOUND":
        return NotFound("forge_not_found", f"GitHub does not find it: {message}", details=details)
    if kind in ("FORBIDDEN", "INSUFFICIENT_SCOPES"):
        return Permanent("forge_forbidden", f"GitHub forbids it: {message}", details=details)
    if kind in ("UNPROCESSABLE", "VALIDATION"):
        return Invalid("forge_invalid", message, details=details)
    return Transient("forge_unavailable", f"GitHub could not read it: {message}", details=details)
