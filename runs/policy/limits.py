"""What may run at once and what it may cost: weight classes, caps and budgets. None everywhere means no limit."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from runs.policy.forms import Block, OrNothing

MICRO = 1_000_000  # µUSD in a USD
MOST_AT_ONCE = 10_000  # attempts; far beyond any fleet
ELSE = "default"  # the key of `perRepository` that holds for every repository without one of its own


def _repository(value: Any) -> Any:
    if isinstance(value, str) and value != ELSE and not re.fullmatch(r"[\w.-]+/[\w.-]+", value, re.ASCII):
        raise ValueError(f"{value} is neither owner/repo nor {ELSE}")
    return value


Count = Annotated[int, Field(ge=0, le=MOST_AT_ONCE)]
AgentId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
RepositoryName = Annotated[str, BeforeValidator(_repository)]


class WeightClass(Block):
    """How many unfinished attempts of this weight there may be, in all and on one node."""

    max: Count | None = None
    per_node: Count | None = None


class Limits(Block):
    """How many unfinished attempts a repository or an agent may have, and for how long a run may be extended."""

    per_repository: Annotated[dict[RepositoryName, Count | None], OrNothing] = Field(default_factory=dict)
    per_agent: Annotated[dict[AgentId, Count | None], OrNothing] = Field(default_factory=dict)
    max_run_minutes: Annotated[int, Field(ge=1, le=1440)] = 180

    def of_repository(self, name: str) -> int | None:
        """The cap of ``owner/repo``, in whatever case, else the one for all repositories."""
        wanted = name.lower()
        own = [cap for each, cap in self.per_repository.items() if each.lower() == wanted]
        return own[0] if own else self.per_repository.get(ELSE)

    @property
    def caps_attempts(self) -> bool:
        """Whether any of them is finite."""
        return any(cap is not None for cap in (*self.per_repository.values(), *self.per_agent.values()))


class Allowance(Block):
    """What may be spent: USD, tokens, or both; whichever is reached first counts."""

    usd: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    tokens: Annotated[int, Field(ge=0, le=10**15)] | None = None

    @property
    def micro_usd(self) -> int | None:
        """The money as the database counts it."""
        return None if self.usd is None else round(self.usd * MICRO)


class Budgets(Block):
    """What a UTC day, a subject and a run may cost, and when a person is warned."""

    per_day: Allowance | None = None
    per_subject: Allowance | None = None
    per_run: Allowance | None = None
    warn_at_percent: Annotated[int, Field(ge=1, le=100)] = 80
