"""Credentials as people see them: nodes, lists, dates, last use; no token and no hash."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Prefetch

from runs.clock import now
from workers.models import Credential, CredentialToken
from workers.services.credentials import allowances_of

if TYPE_CHECKING:
    from datetime import datetime

    from workers.allowances import Allowances


class TokenState(StrEnum):
    """What a request with this token gets."""

    VALID = "valid"
    ENDING = "ending"  # rotated: revoked by itself at `revoked_at`
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token without its secret and without its hash."""

    prefix: str
    state: TokenState
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str
    last_used_at: datetime | None
    last_used_from: str


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """One node, what it may claim, and its tokens, newest first."""

    node: str
    allowed: Allowances
    tokens: tuple[TokenRow, ...]


def token_state(token: CredentialToken, at: datetime) -> TokenState:
    """What the token is worth at this instant; a revoked one stays revoked after its expiry."""
    if token.revoked_at is not None and token.revoked_at <= at:
        return TokenState.REVOKED
    if token.expires_at is not None and token.expires_at <= at:
        return TokenState.EXPIRED
    return TokenState.ENDING if token.revoked_at is not None else TokenState.VALID


def credentials() -> list[CredentialRow]:
    """Every node by name; two queries, for nodes are few and set up by hand."""
    at = now()
    tokens = Prefetch("tokens", CredentialToken.objects.order_by("-id"))
    return [
        CredentialRow(
            node=credential.node,
            allowed=allowances_of(credential),
            tokens=tuple(_token_row(token, at) for token in credential.tokens.all()),
        )
        for credential in Credential.objects.order_by("node").prefetch_related(tokens)
    ]


def _token_row(token: CredentialToken, at: datetime) -> TokenRow:
    return TokenRow(
        prefix=token.prefix,
        state=token_state(token, at),
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        revoked_by=token.revoked_by,
        last_used_at=token.last_used_at,
        last_used_from=token.last_used_from,
    )
