"""Reads of what changes slowly: the last answer is believed for a minute, then the forge is asked whether it stands.

A 304 costs nothing of the hourly budget. Lists are not for this: their pages could be of different ages.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.client import ForgeClient

BELIEVED = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A body with its tag, and when the forge last said that it stands."""

    etag: str
    body: Any
    checked_at: datetime


class Shelf(Protocol):
    """Where answers are kept, by address and credential."""

    def find(self, url: str, credential: str) -> KeptAnswer | None:
        """Return the answer that was kept last."""

    def keep(self, url: str, credential: str, answer: KeptAnswer) -> None:
        """Keep the answer in place of an older one."""


class MemoryShelf:
    """The shelf of a single process."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], KeptAnswer] = {}

    def find(self, url: str, credential: str) -> KeptAnswer | None:
        """Return the answer that was kept last."""
        return self._answers.get((url, credential))

    def keep(self, url: str, credential: str, answer: KeptAnswer) -> None:
        """Keep the answer in place of an older one."""
        self._answers[(url, credential)] = answer


def kept_read(client: ForgeClient, path: str, *, params: Mapping[str, str] | None = None) -> Any:
    """Return the body of one REST read, at most a minute old; raises the forge's errors, also for what was kept."""
    credential, now = client.credential_id(), client.now()
    query = "&".join(f"{name}={value}" for name, value in sorted((params or {}).items()))
    url = f"{client.config.api_url}/{path.lstrip('/')}" + (f"?{query}" if query else "")
    shelf = client.shelf
    known = shelf.find(url, credential)
    if known is not None and now - known.checked_at < BELIEVED:
        return known.body
    tag = {"If-None-Match": known.etag} if known is not None else None
    answer = client.rest("GET", path, params=params, headers=tag)
    if known is not None and answer.status == HTTPStatus.NOT_MODIFIED:
        shelf.keep(url, credential, KeptAnswer(known.etag, known.body, now))
        return known.body
    etag = answer.headers.get("ETag")
    if etag:
        shelf.keep(url, credential, KeptAnswer(etag, answer.body, now))
    return answer.body
