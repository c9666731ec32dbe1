"""Whether the control plane of this machine answers: for commands, which run beside it."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any

from django.conf import settings

PATIENCE = 5.0  # seconds


def control_address() -> str:
    """Where `serve` listens on this machine."""
    return f"http://127.0.0.1:{settings.FACTORY.port}"


def control_health() -> dict[str, Any] | None:
    """What ``GET /health`` says; None if nothing sound comes within 5 s."""
    connection = HTTPConnection("127.0.0.1", settings.FACTORY.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/health")
        response = connection.getresponse()
        document = json.loads(response.read(10_000))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return document if response.status == HTTPStatus.OK and isinstance(document, dict) else None
