"""What a look made of its scene: the facts that the guards decide on, and what the writes of the edge need of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.decisions.agent_result import AgentVerdict
from convergence.decisions.scope import ScopeVerdict

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.decisions.churn import Churn
    from convergence.decisions.gate import GateVerdict
    from convergence.decisions.reviews import KnownReview
    from convergence.guards import Facts
    from convergence.looks.scope import ScopeFacts
    from convergence.models import Adjudication, Escalation


@dataclass(frozen=True, slots=True)
class Judged:
    """The facts of one look and what they were made of, for the writes of the edge."""

    facts: Facts
    verdict: AgentVerdict = AgentVerdict()  # noqa: RUF009  # frozen
    fresh: tuple[KnownReview, ...] = ()
    gate: GateVerdict | None = None
    closing: ScopeFacts | None = None  # what the gate read about the issues that are closed
    scope: ScopeVerdict = ScopeVerdict()  # noqa: RUF009  # frozen
    churn: Churn | None = None
    memory: Adjudication | None = None  # an earlier answer to the question that is asked
    escalation: Escalation | None = None
    effects_pending: bool = False
    timer_at: datetime | None = None
