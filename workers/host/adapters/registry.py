"""The adapters of this worker, each behind a guard that no run gets around."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from workers.host.adapters import command, fake
from workers.host.adapters.contract import (
    PROVIDERS,
    UNSUPPORTED,
    AdapterContractError,
    AdapterRegistrationError,
    Outcome,
    Request,
    RunRefused,
)

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
RESERVED = "any"
BUILTIN = "builtin"
PREFERENCE: tuple[str, ...] = ()  # agent CLIs that serve "any" by themselves; none ships in this version


class GuardedAdapter:
    """A frozen wrapper: its checks run before any code of the adapter does."""

    __slots__ = ("_module", "name", "sandbox_support", "source")
    _module: Any
    name: str
    sandbox_support: str | tuple[str, ...]
    source: str

    def __init__(self, name: str, module: Any, source: str) -> None:
        """``module`` passed the contract."""
        object.__setattr__(self, "_module", module)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "sandbox_support", module.SANDBOX_SUPPORT)

    def __setattr__(self, name: str, value: object) -> None:
        """Nothing changes."""
        raise AttributeError(f"{name} of an adapter cannot be set")

    def check(self, definition: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        """Refuse what this adapter must not execute (``RunRefused``); a sandbox that is not there is an error."""
        sandbox = spec.get("sandbox") or definition.get("sandbox")
        if sandbox:
            provider = sandbox.get("provider")
            if self.sandbox_support == UNSUPPORTED or provider not in self.sandbox_support:
                raise RunRefused("sandbox_unsupported", f"adapter {self.name} does not support the sandbox {provider}")
            raise RuntimeError(f"sandbox_unavailable: the sandbox {provider} has not been probed on this machine")
        harness = spec.get("harness") or definition.get("harness") or {}
        named = sorted(kind for kind, items in harness.items() if items)
        if named:
            raise RunRefused("harness_unsupported", f"adapter {self.name} takes no {named[0]}")
        closed = "command" in definition or "actions" in definition
        if definition.get("mutating") and not closed and spec["workspace"]["kind"] != "worktree":
            raise RunRefused("unsupported_spec", "a mutating definition is a closed form or works in a worktree")

    def execute(self, request: Request) -> Outcome:
        """Run the adapter; an outcome that is none is an error."""
        outcome = self._module.execute(request)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"adapter {self.name} returned {type(outcome).__name__}")
        fault = outcome.fault()
        if fault is not None:
            raise ValueError(f"adapter {self.name} reported {fault}")
        return outcome


class AdapterRegistry:
    """Names to guarded adapters."""

    def __init__(self, builtins: Iterable[Any] = (command, fake)) -> None:
        """Register the built-in ones."""
        self._adapters: dict[str, GuardedAdapter] = {}
        for module in builtins:
            self.register(module.NAME, module, source=BUILTIN)

    def register(self, name: str, module: Any, *, source: str, replace: bool = False) -> None:
        """Add an adapter; ``AdapterContractError`` or ``AdapterRegistrationError`` say what is wrong."""
        if not NAME.fullmatch(name) or name == RESERVED:
            raise AdapterContractError(str(name), "name", f"{name!r}")
        if module is None:
            raise AdapterContractError(name, "module", "None")
        if not callable(getattr(module, "execute", None)):
            raise AdapterContractError(name, "execute", "absent or not callable")
        support = getattr(module, "SANDBOX_SUPPORT", None)
        tuple_of_providers = isinstance(support, tuple) and bool(support) and set(support) <= set(PROVIDERS)
        if support != UNSUPPORTED and not tuple_of_providers:
            raise AdapterContractError(name, "SANDBOX_SUPPORT", f"{support!r}")
        if not source:
            raise AdapterRegistrationError("adapter_source_missing", f"adapter {name}: no source says where it is from")
        if name in self._adapters and not replace:
            held = self._adapters[name].source
            raise AdapterRegistrationError("adapter_duplicate", f"adapter {name} is taken by {held}")
        self._adapters[name] = GuardedAdapter(name, module, source)

    def get(self, name: str) -> GuardedAdapter:
        """The guarded adapter; ``KeyError`` if there is none of that name."""
        return self._adapters[name]

    def has(self, name: str) -> bool:
        """Whether an adapter of that name is registered."""
        return name in self._adapters

    def list(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._adapters)

    def to_map(self) -> Mapping[str, GuardedAdapter]:
        """An immutable snapshot."""
        return MappingProxyType(dict(sorted(self._adapters.items())))


def any_adapter(named: tuple[str, ...], *, has_command: bool) -> str | None:
    """What executes runs whose adapter is ``any``; ``fake`` only if it was named."""
    if has_command:
        return command.NAME
    return named[0] if named else next(iter(PREFERENCE), None)
