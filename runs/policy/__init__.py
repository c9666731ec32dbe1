"""The policy: what operators tune without touching code, read from two files and checked key by key.

The shipped file holds every default; a key that stands in the data folder's file replaces the shipped value as a whole.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from django.conf import settings

from runs.contract.errors import Invalid
from runs.policy.document import Policy
from runs.policy.files import SHIPPED, policy_read
from runs.policy.merging import Merging

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SHIPPED", "Merging", "Policy", "policy", "policy_fault", "policy_forget", "policy_read"]

RELOAD_SECONDS = 10.0  # a change of the file takes effect by itself within this time


class _Current:
    """The last good policy of this process, read again when a file changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._policy: Policy | None = None
        self._stamp: tuple[float, ...] = ()
        self._checked = 0.0
        self.fault = ""

    def get(self) -> Policy:
        with self._lock:
            if self._policy is not None and time.monotonic() - self._checked < RELOAD_SECONDS:
                return self._policy
            site = settings.FACTORY.home / "policy.yaml"
            self._checked = time.monotonic()
            stamp = tuple(path.stat().st_mtime if path.exists() else 0.0 for path in (SHIPPED, site))
            if self._policy is None or stamp != self._stamp:
                self._read(site, stamp)
            if self._policy is None:  # unreachable: the first read raises
                raise Invalid("registry_invalid", self.fault)
            return self._policy

    def _read(self, site: Path, stamp: tuple[float, ...]) -> None:
        try:
            self._policy, self.fault = policy_read(site), ""
        except Invalid as error:
            if self._policy is None:
                raise
            self.fault = error.message  # a file that goes wrong later leaves the last good one in use
        self._stamp = stamp

    def forget(self) -> None:
        with self._lock:
            self._policy, self._stamp, self.fault = None, (), ""


_current = _Current()


def policy() -> Policy:
    """The policy in force; a change of the file counts within 10 s. Raises ``Invalid`` only when none was ever good."""
    return _current.get()


def policy_fault() -> str:
    """What is wrong with the file that is not in use, blank when nothing is; also when none was ever good."""
    try:
        _current.get()
    except Invalid as error:
        return error.message
    return _current.fault


def policy_forget() -> None:
    """Read the files anew at the next use."""
    _current.forget()
