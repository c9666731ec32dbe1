"""People and their tokens: the first admin, API tokens, and who is acting."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from runs.clock import now as clock_now
from runs.contract.canonical import bytes_hash
from runs.contract.errors import Invalid, NotFound, Refused
from runs.models import ApiToken, Role, User
from runs.transactions import without_waiting

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

TOKEN_PREFIX = "fat_"  # noqa: S105  # what a token of this product looks like, for redactors and people
TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)
FIRST_ADMIN = "admin"
USED_EVERY = timedelta(minutes=1)  # `last_used_at` is written at most this often


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts: a person, with the role that holds for this request."""

    user: User
    role: Role

    @property
    def actor(self) -> str:
        """The word of journals and logs."""
        return f"operator:{self.user.get_username()}"

    def may(self, role: Role) -> bool:
        """Whether this request may do what needs the role."""
        return self.role.covers(role)


def role_check(held: Role, needed: Role, doing: str) -> None:
    """Raise ``Refused`` role_required unless the held role covers the needed one; ``doing`` as in "Cancelling a run".

    The one place that console, API and admin ask.
    """
    if not held.covers(needed):
        raise Refused("role_required", f"{doing} needs the role {needed.value}. You are {held.value}.")


def token_issue(
    *, name: str, user: User, role: Role, created_by: str, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which is stored nowhere.

    Raises ``Invalid`` when the name is none or taken, when the role is above the person's own, and when the token
    would have expired already.
    """
    if not TOKEN_NAME.fullmatch(name):
        raise Invalid("invalid_field", "A token's name is 1 to 80 letters, digits, dots, hyphens or underscores.")
    if expires_at is not None and expires_at <= clock_now():
        raise Invalid("invalid_field", "A token that has expired already is worth nothing; choose a later end.")
    if ApiToken.objects.filter(name=name).exists():
        raise Invalid("invalid_field", f"A token named {name} exists; revoke it or choose another name.")
    if not user.may(role):
        raise Invalid("invalid_field", f"{user.get_username()} is {user.role} and cannot hand out the role {role}.")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        name=name,
        user=user,
        role=role,
        token_hash=bytes_hash(secret.encode()),
        prefix=secret[:8],
        created_at=clock_now(),
        created_by=created_by,
        expires_at=expires_at,
    )
    return token, secret


def token_revoke(*, name: str) -> None:
    """Make the token worthless from the next request on; raises ``NotFound`` for an unknown name."""
    now = clock_now()
    if not ApiToken.objects.filter(name=name).exists():
        raise NotFound("unknown_token", f"There is no token named {name}. List them with: manage.py tokens list")
    ApiToken.objects.filter(name=name, revoked_at=None).update(revoked_at=now)


def token_caller(secret: str) -> Caller | None:
    """The caller behind a bearer token; None when it is unknown, revoked, expired, or its person is inactive."""
    token = ApiToken.objects.select_related("user").filter(token_hash=bytes_hash(secret.encode())).first()
    if token is None or token.revoked_at is not None or not token.user.is_active:
        return None
    now = clock_now()
    if token.expires_at is not None and token.expires_at <= now:
        return None
    if token.last_used_at is None or now - token.last_used_at > USED_EVERY:
        with without_waiting():
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    own, persons = Role(token.role), Role(token.user.role)
    return Caller(token.user, own if persons.covers(own) else persons)


def bootstrap_admin(home: Path, url: str) -> bool:
    """Make the first admin and operator token, left in ``admin.json`` (0600); return whether it was the first start."""
    user_model = get_user_model()
    if user_model.objects.exists():
        return False
    password = secrets.token_urlsafe(18)
    with transaction.atomic():
        user = user_model.objects.create_user(
            FIRST_ADMIN, password=password, role=Role.ADMIN, is_staff=True, is_superuser=True
        )
        _, token = token_issue(name="first", user=user, role=Role.OPERATOR, created_by="bootstrap")
        _write_private(home / "admin.json", {"username": FIRST_ADMIN, "password": password, "token": token, "url": url})
    return True


def _write_private(path: Path, document: dict[str, str]) -> None:
    """Write the file for its owner's eyes only, whole or not at all."""
    aside = path.with_suffix(".new")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
