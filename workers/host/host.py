"""What one worker process is made of, passed as one object to everything that executes an attempt."""

import platform
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from runs.contract.errors import FactoryError
from runs.contract.redactor import Redactor
from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.client import Client
from workers.host.disk.boots import Boot
from workers.host.disk.documents import Documents
from workers.host.environment import passed_secrets
from workers.host.host_config import HostConfig
from workers.host.options import Options
from workers.host.settings import Settings
from workers.host.signals import Signals

PASSED = "passed_secret"  # the kind of what passEnv lends to agents
WORKSPACE_KINDS = ("artifacts", "ephemeral", "worktree")
ISOLATION = "none"  # the only level of this version; said at the start, in the label and in the health report


@dataclass(slots=True)
class Host:
    """The parts of a running worker."""

    settings: Settings
    options: Options
    config: HostConfig
    home: Path
    client: Client
    boot: Boot
    documents: Documents
    registry: AdapterRegistry
    tokens: TokenSource
    signals: Signals
    version: str
    author: tuple[str, str] = ("factory", "factory@localhost")
    skew: timedelta = timedelta(0)
    attempts: int = field(default=0)
    told_to_leave: bool = False  # by the control plane, where a person asked for it

    def secrets(self, fencing_token: str | None = None) -> dict[str, list[str]]:
        """Everything secret that this process holds, by kind."""
        held = {
            "worker_credential": [self.client.credentials.current.token],
            "host_secret": list(self.config.secrets.values()),
            PASSED: passed_secrets(self.settings.environment, self.config.pass_env),
        }
        try:
            held["forge_token"] = [self.tokens.token().value]
        except FactoryError:
            held["forge_token"] = []
        if fencing_token is not None:
            held["fencing_token"] = [fencing_token]
        return held

    def redactor(self, fencing_token: str | None = None) -> Redactor:
        """A redactor that knows these secrets."""
        return Redactor(self.secrets(fencing_token))

    def draining(self) -> bool:
        """Whether this worker leaves after the attempt in hand."""
        return self.signals.count > 0 or self.drain_requested()

    def drain_requested(self) -> bool:
        """Whether a person or the supervisor asked for it: the control plane said so, or the drain file exists."""
        file = self.options.drain_file
        return self.told_to_leave or (file is not None and Path(file).exists())


def found_labels() -> dict[str, str]:
    """What a worker says about its machine."""
    return {"arch": platform.machine().lower() or "unknown", "os": platform.system().lower() or "unknown",
            "isolation": ISOLATION}  # fmt: skip
