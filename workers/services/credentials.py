"""Credentials of nodes: issued, rotated and revoked; the token itself leaves only into the file that is asked for."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from runs.clock import now
from runs.contract.errors import Invalid, NotFound, Refused
from runs.contract.ids import NODE_PATTERN
from runs.queue.attempts.release import attempt_release_node
from runs.transactions import joined_transaction, write_transaction
from workers.allowances import Allowances, allowances_check, widened, with_defaults
from workers.models import Credential, CredentialToken
from workers.models.credential import DISPLAYED_CHARACTERS

if TYPE_CHECKING:
    from datetime import datetime

TOKEN_PREFIX = "fwk_"  # noqa: S105 -- the form of every token, not one of them
TOKEN_BYTES = 32
TOKEN_PATTERN = re.compile(r"fwk_[A-Za-z0-9_-]{43}")
DEFAULT_LIFE = timedelta(days=90)
MOST_VALID = 2  # the one in use and its successor
OLD_TOKEN_LIVES = timedelta(
    minutes=10
)  # after its successor was first accepted: workers re-read the file within seconds
LAST_USED_STEP = timedelta(minutes=1)  # `last used` is kept to the minute, so that it costs one write a minute
ROTATION = "rotation"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token in clear, which nobody sees again, and the rows behind it."""

    node: str
    secret: str
    row: CredentialToken

    def __repr__(self) -> str:
        """Leave the token out, so that no log can hold it."""
        return f"Issued({self.node!r}, {self.row.prefix}…)"


def token_hash(secret: str) -> str:
    """64 hex digits under which a token is stored and found."""
    return hashlib.sha256(secret.encode()).hexdigest()


def credential_issue(*, node: str, allowed: Allowances, life: timedelta | None, actor: str) -> Issued:
    """Make a node and its first token, or widen a known node and give it a further token.

    ``life`` None means no expiry. Adapters and kinds that ``allowed`` leaves empty get their defaults for a new node
    and stay as they are for a known one. One transaction. Raises ``Invalid`` (``invalid_field``) for a wrong name or
    list and ``Refused`` (``too_many_tokens``) when two tokens of the node are valid.
    """
    if not NODE_PATTERN.fullmatch(node):
        rule = "it begins with a letter or digit and has lower-case letters, digits and hyphens, at most 63 in all"
        raise Invalid("invalid_field", f"{node!r} is no name of a node: {rule}", details={"field": "node"})
    allowances_check(allowed)
    at = now()
    with write_transaction():
        credential = Credential.objects.select_for_update().filter(node=node).first()
        if credential is None:
            credential = Credential(node=node, created_at=at, created_by=actor)
            allowed = with_defaults(allowed)
        else:
            allowed = widened(allowances_of(credential), allowed)
        _write_lists(credential, allowed)
        credential.save()
        return _token_add(credential, life=life, actor=actor, at=at)


def credential_rotate(*, node: str, life: timedelta | None, actor: str) -> Issued:
    """A second token with the same lists; the older one lives until ten minutes after this one was first accepted.

    Raises ``NotFound`` (``unknown_node``), ``Refused`` (``too_many_tokens``).
    """
    with write_transaction():
        credential = _locked(node)
        return _token_add(credential, life=life, actor=actor, at=now())


def credential_revoke(*, node: str, prefix: str | None, actor: str) -> int:
    """Revoke the valid tokens of a node, or the one that begins so; their number. In force with the next request.

    With the last valid token the node's unfinished attempts become due, and the reaper takes them back. Raises
    ``NotFound`` (``unknown_node``, ``unknown_token``). Called twice: ``unknown_token``, nothing changes.
    """
    at = now()
    with write_transaction():
        credential = _locked(node)
        valid = CredentialToken.objects.valid(at).filter(credential=credential)
        named = valid.filter(prefix__startswith=prefix.removeprefix(TOKEN_PREFIX)) if prefix else valid
        count = named.update(revoked_at=at, revoked_by=actor)
        if not count:
            message = (
                f"node {node} has no valid token{f' {prefix}…' if prefix else ''}; see: manage.py credentials list"
            )
            raise NotFound("unknown_token", message)
        if not valid.exists():
            attempt_release_node(node)
    return count


def token_prove(token: CredentialToken) -> None:
    """Note a token's first accepted claim or heartbeat, and let its older siblings end ten minutes later.

    A compare-and-set on ``proven_at``; called again it does nothing.
    """
    if token.proven_at is not None:
        return
    at = now()
    with joined_transaction():
        fresh = CredentialToken.objects.filter(pk=token.pk, proven_at__isnull=True).update(proven_at=at)
        if fresh:
            ends = at + OLD_TOKEN_LIVES
            older = CredentialToken.objects.filter(
                Q(revoked_at__isnull=True) | Q(revoked_at__gt=ends), credential_id=token.credential_id, pk__lt=token.pk
            )
            older.update(revoked_at=ends, revoked_by=ROTATION)
    token.proven_at = at


def token_used(token: CredentialToken, *, address: str, at: datetime) -> None:
    """Keep when, to the minute, and from where a token was last used."""
    if token.last_used_at is not None and at - token.last_used_at < LAST_USED_STEP:
        return
    minute = at.replace(second=0, microsecond=0)
    with joined_transaction():
        CredentialToken.objects.filter(pk=token.pk).update(last_used_at=minute, last_used_from=address)


def allowances_of(credential: Credential) -> Allowances:
    """The stored lists in the form that checks compare."""
    return Allowances(
        labels=credential.labels,
        adapters=credential.adapters,
        workspace_kinds=credential.workspace_kinds,
        repositories=credential.repositories,
        adapter_override=credential.adapter_override,
    )


def _locked(node: str) -> Credential:
    credential = Credential.objects.select_for_update().filter(node=node).first()
    if credential is None:
        raise NotFound("unknown_node", f"there is no node {node}; see: manage.py credentials list")
    return credential


def _write_lists(credential: Credential, allowed: Allowances) -> None:
    credential.labels = {key: sorted(values) for key, values in allowed.labels.items()}
    credential.adapters = sorted(allowed.adapters)
    credential.workspace_kinds = sorted(allowed.workspace_kinds)
    credential.repositories = sorted(allowed.repositories)
    credential.adapter_override = allowed.adapter_override


def _token_add(credential: Credential, *, life: timedelta | None, actor: str, at: datetime) -> Issued:
    valid = list(CredentialToken.objects.valid(at).filter(credential=credential))
    if len(valid) >= MOST_VALID:
        oldest = min(valid, key=lambda token: token.pk)
        raise Refused(
            "too_many_tokens",
            f"two tokens of {credential.node} are valid already; end one first with: "
            f"manage.py credentials revoke {credential.node} --token {oldest.prefix}",
        )
    random = _random()
    secret = TOKEN_PREFIX + random
    row = CredentialToken.objects.create(
        credential=credential,
        token_hash=token_hash(secret),
        prefix=random[:DISPLAYED_CHARACTERS],
        created_at=at,
        created_by=actor,
        expires_at=at + life if life is not None else None,
    )
    return Issued(credential.node, secret, row)


def _random() -> str:
    """43 characters that begin with a letter or digit, so that no command takes their beginning for a flag."""
    while True:
        random = base64.urlsafe_b64encode(secrets.token_bytes(TOKEN_BYTES)).rstrip(b"=").decode()
        if random[0].isalnum():
            return random
