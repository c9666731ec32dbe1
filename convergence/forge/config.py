"""Where the forge is and how it is spoken to, fixed for one process."""

from dataclasses import dataclass, field

from convergence.forge.governor.pace import Pace
from runs.contract.tokens import TokenSource


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds until an answer counts as not given."""

    connect: float = 5.0
    rest: float = 20.0
    graphql: float = 30.0
    read_retries: tuple[float, ...] = (1.0, 4.0)  # pauses before the in-place retries of a read


PERSON_LIMITS = TimeLimits(connect=3.0, rest=8.0, graphql=10.0, read_retries=(0.5,))  # somebody waits for the answer


@dataclass(frozen=True, slots=True)
class ForgeConfig:
    """Addresses without trailing slash; no host but theirs is ever contacted."""

    api_url: str
    graphql_url: str
    server_url: str
    tokens: TokenSource
    version: str
    limits: TimeLimits = field(default_factory=TimeLimits)
    person_limits: TimeLimits = PERSON_LIMITS
    max_batch: int = 50  # pull requests in one document
    max_in_flight: int = 4  # requests of one process at once
    reserve: float = 0.2  # share of the hourly budget that is kept for people and for what has begun
    pace: Pace = field(default_factory=Pace)
    body_bytes: int = 20 * 1024 * 1024  # the largest answer that is read
