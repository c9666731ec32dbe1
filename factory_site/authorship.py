"""The account behind the forge credential, as the author of commits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connections

from convergence.forge_access import forge_client, own_login
from workers.authorship import Author

if TYPE_CHECKING:
    from concurrent.futures import Future

PATIENCE = 3.0  # seconds that a worker's hello may wait for the forge; the answer of a slower one serves the next hello
_asking = ThreadPoolExecutor(max_workers=1, thread_name_prefix="own-login")


def own_author() -> Author | None:
    """The own login and its noreply address; None while the forge has not said it. Waits three seconds at most."""
    asked: Future[str] = _asking.submit(_login)
    try:
        login = asked.result(PATIENCE)
    except TooSlow:
        return None
    return author_of(login, settings.FACTORY.github_server_url) if login else None


def _login() -> str:
    try:
        return own_login(forge_client())
    finally:
        connections.close_all()  # the clock of the client may have opened one, and this thread is nobody's request


def author_of(login: str, server_url: str) -> Author:
    """The login with the address that its forge sets aside for it; a bot's brackets are part of its address."""
    return Author(login, f"{login}@users.noreply.{urlsplit(server_url).hostname}")
