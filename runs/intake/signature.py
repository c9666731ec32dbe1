"""Checking who sent a delivery, on its raw bytes, before anything is parsed."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

FORM = re.compile(r"sha256=[0-9a-f]{64}", re.ASCII)


def signature_check(body: bytes, header: str | None, secrets: Sequence[str]) -> None:
    """Return when the header is the HMAC-SHA-256 of the body under one of the secrets (two while one is rotated).

    Raises ``Invalid`` missing_secret, missing_signature or bad_signature.
    """
    if not secrets:
        raise Invalid("missing_secret", "Deliveries are not accepted: set GITHUB_WEBHOOK_SECRET and start again.")
    if not header or not FORM.fullmatch(header):
        raise Invalid("missing_signature", "The header X-Hub-Signature-256 is missing or malformed.")
    expected = [f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}" for secret in secrets]
    if not any(hmac.compare_digest(header, each) for each in expected):  # a list: each is compared, in equal time
        raise Invalid("bad_signature", "The signature does not fit the body.")
