"""What an adapter gets, what it gives back, and how it says that it could not execute."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from runs.contract.errors import Invalid
from workers.host.process.launcher import Exit

UNSUPPORTED = "unsupported"
PROVIDERS = ("bwrap", "gondolin")
MOST_USED = 10**12  # tokens, turns or USD of one attempt; more is a slip of whoever counted


class AdapterContractError(Invalid):
    """A part of an adapter is absent or wrong; ``details.missing`` names it."""

    def __init__(self, adapter: str, missing: str, found: str) -> None:
        """One line that names adapter, part and what was found."""
        super().__init__(
            "adapter_contract_invalid", f"adapter {adapter}: {missing} is {found}", details={"missing": missing}
        )


class AdapterRegistrationError(Invalid):
    """An adapter that cannot be registered: ``adapter_duplicate``, ``adapter_source_missing``."""


class AdapterUnavailable(Exception):
    """The program is missing, too old or not logged in; ``reason`` is one of the readiness reasons."""

    def __init__(self, reason: str, message: str) -> None:
        """``message`` names the program and what mends it."""
        super().__init__(message)
        self.reason = reason


class RunRefused(Exception):
    """The run cannot be executed as it is described; ``code`` is a refusal code."""

    def __init__(self, code: str, message: str) -> None:
        """One sentence for people."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Usage:
    """Running totals; None where the agent does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    turns: int | None = None
    cost_usd: float | None = None

    def document(self) -> dict[str, Any]:
        """The form on the wire."""
        return {
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cacheReadTokens": self.cache_read_tokens,
            "cacheWriteTokens": self.cache_write_tokens,
            "turns": self.turns,
            "costUsd": self.cost_usd,
        }

    def grown(self, other: "Usage") -> "Usage":
        """Totals only grow: field by field the larger of both."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Usage(
            *(mine if theirs is None else theirs if mine is None else max(mine, theirs) for mine, theirs in pairs)
        )

    def tokens(self) -> int:
        """All tokens together."""
        parts = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return sum(part or 0 for part in parts)

    def is_sound(self) -> bool:
        """Whether no number is negative, not finite, or more than anybody could use or a column holds."""
        numbers = [getattr(self, name) for name in self.__slots__]
        return all(number is None or 0 <= number <= MOST_USED for number in numbers)


@dataclass(frozen=True, slots=True)
class Paths:
    """The attempt's folders and files, for an agent; what is not the workspace is made with the first launch."""

    root: Path
    work: Path
    input: Path
    prompt: Path
    result: Path
    tmp: Path
    run: Path
    log: Path


@dataclass(frozen=True, slots=True)
class Request:
    """One attempt, as an adapter sees it."""

    run_id: str
    attempt: int
    nonce: str
    definition: Mapping[str, Any]
    variables: Mapping[str, Any]
    prompt: str
    job: bytes
    model: str | None
    mutating: bool
    paths: Paths
    environment: Mapping[str, str]
    seconds: int
    command: tuple[str, ...] | None
    launch: Callable[..., Exit]
    report: "Reporter"


class Reporter(Protocol):
    """Where an adapter tells what it sees; never raises, never blocks."""

    def trace(self, kind: str, payload: Mapping[str, Any]) -> None:
        """One trace row."""

    def usage(self, usage: Usage) -> None:
        """Running totals."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A recognised failure code with its reason."""

    code: str
    reason: str
    retry_at: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt's agent ended. ``given`` is a result that the adapter itself made, on its own channel."""

    exit_code: int | None
    signal: int | None = None
    final_text: str = ""
    error_tail: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    failure: Failure | None = None
    given: bytes | None = None
    derived: Mapping[str, Any] | None = None
    captured: tuple[str, str] | None = None

    def fault(self) -> str | None:
        """What is wrong with the outcome itself, or None."""
        if not self.usage.is_sound():
            return "numbers that are negative, not finite or beyond all use"
        return None


class Adapter(Protocol):
    """What the registry hands out."""

    NAME: str
    SANDBOX_SUPPORT: str | tuple[str, ...]

    def execute(self, request: Request) -> Outcome:
        """Run one attempt's agent to its end."""
