"""Where accounts are kept: in memory for one process, elsewhere for all that share a credential."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from convergence.forge.governor.account import Account

Change = Callable[[Account], Account]


class Book(Protocol):
    """The accounts of every credential. Safe for threads; the shared one also for processes."""

    def read(self, credential: str) -> Mapping[str, Account]:
        """Return the accounts of the credential by resource; what is not there is an empty account."""

    def change(self, credential: str, resource: str, change: Change) -> tuple[Account, Account]:
        """Return the account before and after ``change``, which nobody else's change comes between."""


class MemoryBook:
    """The book of a single process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: dict[tuple[str, str], Account] = {}

    def read(self, credential: str) -> Mapping[str, Account]:
        """Return the accounts of the credential by resource."""
        with self._lock:
            return {resource: known for (owner, resource), known in self._accounts.items() if owner == credential}

    def change(self, credential: str, resource: str, change: Change) -> tuple[Account, Account]:
        """Return the account before and after ``change``."""
        with self._lock:
            before = self._accounts.get((credential, resource), Account())
            after = change(before)
            self._accounts[(credential, resource)] = after
            return before, after
