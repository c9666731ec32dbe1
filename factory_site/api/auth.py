"""Who calls: a token of a program, or a person's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ninja.security import HttpBearer, SessionAuth

from runs.contract.errors import Refused
from runs.models import Role, User
from runs.people import Caller, token_caller

if TYPE_CHECKING:
    from django.http import HttpRequest


class TokenCaller(HttpBearer):
    """``Authorization: Bearer fat_…``; a wrong token never falls back to the session."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """Return the caller behind the token, None for a token that is worth nothing."""
        del request
        return token_caller(token)


class SessionCaller(SessionAuth):
    """A signed-in person; changes need the CSRF token, as on the console."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """Return the person of the session."""
        del key
        if request.headers.get("Authorization"):
            return None
        return Caller(request.user, Role(request.user.role)) if isinstance(request.user, User) else None


def caller_of(request: HttpRequest) -> Caller:
    """The caller that authentication found."""
    caller: Caller = request.auth  # type: ignore[attr-defined]  # ninja puts it there
    return caller


def needs(request: HttpRequest, role: Role, verb: str) -> Caller:
    """Return the caller, or raise ``Refused`` role_required naming what it takes."""
    caller = caller_of(request)
    if not caller.may(role):
        raise Refused("role_required", f"{verb} needs the role {role.value}. You are {caller.role.value}.")
    return caller
