"""What this worker says it can take, and what is missing on its machine."""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from runs.contract.placement import ANY_REPOSITORY
from runs.contract.tokens import TokenSource
from runs.contract.wire import PROTOCOL_VERSION, SPEC_VERSIONS
from workers.host.adapters.registry import AdapterRegistry, any_adapter
from workers.host.attempt.record import kept_summary
from workers.host.client import WireFault
from workers.host.disk.spool import quarantined
from workers.host.host import ISOLATION, WORKSPACE_KINDS, found_labels
from workers.host.host_config import HostConfig
from workers.host.options import Options, UsageError
from workers.host.process.survivors import survivors
from workers.host.settings import Settings

GIGABYTE = 1024**3
WITHOUT_WORKTREE = (
    "note: without a forge token this machine takes no runs that change a repository (workspace kind worktree); set"
    " GITHUB_TOKEN and start it again, or run `gh auth login`\n"
)


class Offers(Protocol):
    """What an offer is made of: a worker has it, and so has the supervisor that speaks for its workers."""

    @property
    def settings(self) -> Settings:
        """Of this process."""

    @property
    def options(self) -> Options:
        """The worker's flags."""

    @property
    def config(self) -> HostConfig:
        """What this machine lends to agents."""

    @property
    def home(self) -> Path:
        """The worker home."""

    @property
    def registry(self) -> AdapterRegistry:
        """The adapters of this version."""

    @property
    def tokens(self) -> TokenSource:
        """Where the forge's token comes from."""

    @property
    def version(self) -> str:
        """The code stamp."""


@dataclass(slots=True)
class Offering:
    """Makes the offer anew each time it is asked for; ``narrowed`` is what the credential refused."""

    host: Offers
    narrowed: set[str] = field(default_factory=set)
    repositories: list[str] = field(default_factory=lambda: [ANY_REPOSITORY])

    def __post_init__(self) -> None:
        """A named adapter that does not exist stops the start."""
        named = (*self.host.options.adapters, *filter(None, (self.host.options.adapter_override,)))
        unknown = [name for name in named if not self.host.registry.has(name)]
        if unknown:
            known = ", ".join(self.host.registry.list())
            raise UsageError("adapter_unknown", f"--adapter {unknown[0]}: this version has {known}")

    def claim(self) -> dict[str, Any]:
        """The offer as claims carry it, without ``waitSeconds``."""
        options = self.host.options
        named = options.adapters or tuple(self.host.registry.list())
        override = options.adapter_override
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "workerVersion": self.host.version,
            "specVersions": list(SPEC_VERSIONS),
            "labels": {**(options.labels or {}), **found_labels()},
            "adapters": [name for name in named if name not in self.narrowed],
            "anyAdapter": override or self._any_adapter(),
            "adapterOverride": override,
            "workspaceKinds": [kind for kind in WORKSPACE_KINDS if kind not in {*self.narrowed, *self.kinds_missing()}],
            "repositories": self.repositories,
        }

    def health(self) -> dict[str, Any]:
        """What pages and doctor tell about this machine."""
        disk = shutil.disk_usage(self.host.home)
        missing = self.missing()
        return {
            "isolation": {"level": ISOLATION, "lacks": [] if self._by_name() else ["not_in_this_version"]},
            "adaptersMissing": missing,
            "kindsMissing": self.kinds_missing(),
            "kept": kept_summary(self.host.home),
            "disk": {"freeBytes": disk.free, "totalBytes": disk.total},
            "unkillable": survivors(),
        }

    def missing(self) -> dict[str, str]:
        """Adapters that are not ready, with the reason."""
        command = self.host.options.command
        return {"command": "cli_missing"} if command and not self._finds(command[0]) else {}

    def kinds_missing(self) -> dict[str, str]:
        """Workspace kinds that cannot be provisioned here, with the reason; asked anew, so that a login is noticed."""
        return {} if self.host.tokens.has_token() else {"worktree": "no_forge_token"}

    def note_limits(self) -> None:
        """Say on stderr what this machine will not take."""
        if self.kinds_missing():
            sys.stderr.write(WITHOUT_WORKTREE)

    def blocked(self) -> str | None:
        """Why this worker takes nothing although it lives; None if it does."""
        if survivors():
            return "unkillable_process"
        offered = self.claim()
        if not offered["adapters"] and offered["anyAdapter"] is None:
            return "no_adapter"
        if shutil.disk_usage(self.host.home).free < self.host.config.min_free_gb * GIGABYTE:
            return "disk_full"
        return None

    def quarantined(self) -> int:
        """How many refused results lie on this machine."""
        return len(quarantined(self.host.home))

    def narrow(self, fault: WireFault) -> bool:
        """Leave out what the credential does not allow and no flag asked for; False if nothing can be left out."""
        allowed = fault.details.get("allowed")
        if fault.details.get("repository") == ANY_REPOSITORY and isinstance(allowed, list):
            self.repositories = [str(name) for name in allowed]  # what the node may serve, if that is not every one
            return True
        refused = {fault.details.get("adapter"), fault.details.get("workspaceKind")} - {None}
        asked = {*self.host.options.adapters, self.host.options.adapter_override}
        fresh = {str(name) for name in refused} - asked - self.narrowed
        self.narrowed |= fresh
        return bool(fresh)

    def _any_adapter(self) -> str | None:
        command = self.host.options.command
        if command is not None:
            return any_adapter((), has_command=True) if self._finds(command[0]) else None
        return any_adapter(self.host.options.adapters, has_command=False)

    def _finds(self, program: str) -> bool:
        return shutil.which(program, path=self.host.settings.environment.get("PATH")) is not None

    def _by_name(self) -> bool:
        return ISOLATION in {self.host.options.isolation, self.host.config.isolation}
