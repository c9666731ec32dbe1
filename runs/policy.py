"""The policy: what operators tune without touching code, read from two files and checked key by key.

The shipped file holds every default; a key that stands in the data folder's file replaces the shipped value as a whole.
"""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from django.conf import settings
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from runs.contract.errors import Invalid

SHIPPED = Path(__file__).resolve().parent.parent / "fixtures" / "policy.yaml"
RELOAD_SECONDS = 10.0  # a change of the file takes effect by itself within this time
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def duration(value: object) -> object:
    """Read ``PT6H``, ``6h``, ``90 s``; anything else is left to the validator to refuse."""
    if isinstance(value, str):
        short = re.fullmatch(r"(\d+)\s*([smhd])", value.strip())
        if short:
            return timedelta(seconds=int(short[1]) * UNITS[short[2]])
    return value


Duration = Annotated[timedelta, BeforeValidator(duration), Field(gt=timedelta(0), le=timedelta(days=365))]


class Block(BaseModel):
    """Keys are camelCase in the file; unknown ones are refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)


class Web(Block):
    """How the web processes listen."""

    trusted_proxies: tuple[str, ...] = ()
    wait_slots: Annotated[int, Field(ge=1, le=1000)] = 64


class Reviewer(Block):
    """One reviewer that a pull request is driven against."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    adapter: Literal["copilot"]


class Trust(Block):
    """Whose words may trigger work."""

    associations: tuple[str, ...] = ("OWNER", "MEMBER", "COLLABORATOR")
    authors: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Convergence(Block):
    """How a pull request is driven; the values that need a later version are refused."""

    advisories: Literal["off"] = "off"
    scope_check: Literal["never"] = "never"
    skip_empty_review: bool = True
    churn_rounds: Annotated[int, Field(ge=0, le=0)] = 0
    on_reviewer_unavailable: Literal["proceed", "escalate"] = "proceed"


class Git(Block):
    """The author of commits."""

    name: str = ""
    email: str = ""


class Forge(Block):
    """How the forge is read."""

    max_batch: Annotated[int, Field(ge=6, le=100)] = 50


class Squash(Block):
    """The commit that a squash makes."""

    title: Annotated[str, Field(min_length=1, max_length=250)] = "{title} (#{number})"
    body: Literal["pr_body", "empty", "commits"] = "pr_body"


class Merging(Block):
    """How a converged pull request lands."""

    review_after: Literal["foreign_push", "any_push", "never"] = "foreign_push"
    max_returns: Annotated[int, Field(ge=0, le=20)] = 3
    pending_checks_timeout: Duration = timedelta(hours=6)
    squash: Squash = Squash()


class Price(Block):
    """USD per million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cache_read: Annotated[float, Field(ge=0)] = 0.0
    cache_write: Annotated[float, Field(ge=0)] = 0.0


class WeightClass(Block):
    """A weight that runs carry; limits on it come with a later version."""


class RepositoryPolicy(Block):
    """What differs in one repository; being listed makes it tracked."""

    reviewers: tuple[Reviewer, ...] | None = None
    merging: dict[str, Any] = Field(default_factory=dict)


class Policy(Block):
    """The whole policy in force."""

    web: Web = Web()
    reviewers: tuple[Reviewer, ...] = ()
    trust: Trust = Trust()
    convergence: Convergence = Convergence()
    git: Git = Git()
    forge: Forge = Forge()
    merging: Merging = Merging()
    models: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    weight_classes: dict[str, WeightClass] = Field(default_factory=dict)
    repositories: dict[str, RepositoryPolicy] = Field(default_factory=dict)

    def reviewers_for(self, repository: str) -> tuple[Reviewer, ...]:
        """The reviewers of ``owner/repo``, the general ones unless it has its own."""
        own = self._own(repository)
        return self.reviewers if own is None or own.reviewers is None else own.reviewers

    def merging_for(self, repository: str) -> Merging:
        """The merging block of ``owner/repo``: its own keys laid over the general ones."""
        own = self._own(repository)
        if own is None or not own.merging:
            return self.merging
        return Merging.model_validate({**self.merging.model_dump(by_alias=True), **own.merging})

    def tracks(self, repository: str) -> bool:
        """Whether the file lists the repository."""
        return self._own(repository) is not None

    def _own(self, repository: str) -> RepositoryPolicy | None:
        wanted = repository.lower()
        return next((own for name, own in self.repositories.items() if name.lower() == wanted), None)


def policy_read(site: Path) -> Policy:
    """Read and check both files; raises ``Invalid`` naming file and path of the first fault, and the next step."""
    shipped, own = _load(SHIPPED), _load(site) if site.exists() else {}
    merged = {**shipped, **{key: _laid_over(shipped.get(key), value) for key, value in own.items()}}
    try:
        policy = Policy.model_validate(merged)
        for name in policy.repositories:
            policy.merging_for(name)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Invalid(
            "registry_invalid",
            f"{site.name}: {path}: {first['msg']}. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": site.name, "path": path},
        ) from None
    return policy


def _laid_over(shipped: Any, own: Any) -> Any:
    """Lay the keys of a block over the shipped block; any other value replaces as a whole."""
    if isinstance(shipped, dict) and isinstance(own, dict):
        return {**shipped, **own}
    return own


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, ValueError, OSError, RecursionError) as error:
        text = " ".join(str(error).split())
        raise Invalid(
            "registry_invalid",
            f"{path.name}: {text}. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": path.name},
        ) from None
    if not isinstance(loaded, dict):
        raise Invalid(
            "registry_invalid",
            f"{path.name}: it should hold keys and values. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": path.name},
        )
    return loaded


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
            site = settings.FACTORY.home / "policy.yaml"
            if self._policy is not None and time.monotonic() - self._checked < RELOAD_SECONDS:
                return self._policy
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
    """What is wrong with the file that is not in use, blank when nothing is."""
    return _current.fault


def policy_forget() -> None:
    """Read the files anew at the next use."""
    _current.forget()
