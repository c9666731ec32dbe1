"""Who calls: a token of a program, or a person's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ninja.security import HttpBearer, SessionAuth

from runs.models import Role, User
from runs.people import Caller, role_check, token_caller

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

    def __call__(self, request: HttpRequest) -> Caller | None:
        """Ask for the CSRF token only where a session would let the request in: a stranger is told to sign in."""
        if request.headers.get("Authorization") or not request.user.is_authenticated:
            return None
        caller: Caller | None = super().__call__(request)
        return caller

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """Return the person of the session."""
        del key
        return Caller(request.user, Role(request.user.role)) if isinstance(request.user, User) else None


def caller_of(request: HttpRequest) -> Caller:
    """The caller that authentication found."""
    caller: Caller = request.auth  # type: ignore[attr-defined]  # ninja puts it there
    return caller


def needs(request: HttpRequest, role: Role, verb: str) -> Caller:
    """Return the caller, or raise ``Refused`` role_required naming what it takes."""
    caller = caller_of(request)
    role_check(caller.role, role, verb)
    return caller
