"""What this machine lends to agents: ``host.yaml`` of the worker home. A wrong key stops the start by name."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workers.host.options import Options, UsageError, split_command
from workers.host.settings import SECRETS_FILE, read_env_file

CONFIG_FILE = "host.yaml"
NO_AGENT = (
    "note: without an agent this machine takes no reviews of pull requests; name one by --command '/path/to/my-agent',"
    " or for good by `command: /path/to/my-agent` in host.yaml of the worker home\n"
)
TYPES: dict[str, type] = {
    "command": str,
    "isolation": str,
    "passEnv": list,
    "adapters": dict,
    "disk": dict,
    "salvage": dict,
}


@dataclass(frozen=True, slots=True)
class HostConfig:
    """The keys with their defaults; ``secrets`` holds the values of ``secrets.env``."""

    command: tuple[str, ...] | None = None
    isolation: str = "auto"
    pass_env: tuple[str, ...] = ()
    adapter_env: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    min_free_gb: float = 5.0
    push_refs: bool = True
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


def load_host_config(home: Path) -> HostConfig:
    """The configuration of a worker home; defaults where there is no file."""
    secrets = read_env_file(home / SECRETS_FILE)
    path = home / CONFIG_FILE
    if not path.exists():
        return HostConfig(secrets=secrets)
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise UsageError("host_config", f"{path} is not YAML: {error}") from error
    _check(path, document)
    adapters = document.get("adapters", {})
    return HostConfig(
        command=_command(path, document.get("command")),
        isolation=document.get("isolation", "auto"),
        pass_env=tuple(document.get("passEnv", ())),
        adapter_env={name: dict(keys.get("env", {})) for name, keys in adapters.items()},
        min_free_gb=float(document.get("disk", {}).get("minFreeGb", 5)),
        push_refs=bool(document.get("salvage", {}).get("pushRefs", True)),
        secrets=secrets,
    )


def with_agent(options: Options, config: HostConfig) -> Options:
    """The options with the agent of the machine where no flag names one."""
    return replace(options, command=options.command or config.command)


def note_without_agent(options: Options) -> None:
    """Say on stderr what a machine without an agent will not take; for a program whose start was not refused."""
    if not (options.command or options.adapter_override or options.adapters):
        sys.stderr.write(NO_AGENT)


def _command(path: Path, text: str | None) -> tuple[str, ...] | None:
    try:
        return split_command(text)
    except UsageError as error:
        raise UsageError("host_config", f"{path}: command: {error.message}") from error


def _check(path: Path, document: Any) -> None:
    if not isinstance(document, dict):
        raise UsageError("host_config", f"{path} must be a mapping")
    for key, value in document.items():
        if key not in TYPES:
            raise UsageError("host_config", f"{path}: {key} is not a key that this version knows")
        if not isinstance(value, TYPES[key]):
            raise UsageError("host_config", f"{path}: {key} must be a {TYPES[key].__name__}")
    if document.get("isolation", "auto") not in {"auto", "none"}:
        raise UsageError("host_config", f"{path}: isolation must be auto or none in this version")
    for name, keys in document.get("adapters", {}).items():
        wrong = sorted(set(keys or {}) - {"env"})
        if wrong:
            raise UsageError("host_config", f"{path}: adapters.{name}.{wrong[0]} is not a key that this version knows")
