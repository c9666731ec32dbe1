"""Where the forge is and how it is spoken to, fixed for one process."""

from dataclasses import dataclass, field

from runs.contract.tokens import TokenSource


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds until an answer counts as not given."""

    connect: float = 5.0
    rest: float = 20.0
    graphql: float = 30.0
    read_retries: tuple[float, ...] = (1.0, 4.0)  # pauses before the in-place retries of a read


@dataclass(frozen=True, slots=True)
class ForgeConfig:
    """Addresses without trailing slash; no host but theirs is ever contacted."""

    api_url: str
    graphql_url: str
    server_url: str
    tokens: TokenSource
    version: str
    limits: TimeLimits = field(default_factory=TimeLimits)
    max_batch: int = 50  # pull requests in one document
    body_bytes: int = 20 * 1024 * 1024  # the largest answer that is read
