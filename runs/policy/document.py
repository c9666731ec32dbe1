"""The whole policy, as the files may say it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from runs.policy.forms import Block, OrNothing
from runs.policy.limits import Budgets, Limits, WeightClass
from runs.policy.machines import Price, Web
from runs.policy.merging import Merging
from runs.policy.people import Tasks
from runs.policy.pools import NamedBounds, Pools, Workers
from runs.policy.retention import Retention
from runs.policy.reviewers import ReviewerEntry, ReviewerList  # noqa: TC001 -- pydantic reads the annotations
from runs.policy.reviewing import Convergence, Forge, Git, Trust


class RepositoryPolicy(Block):
    """What differs in one repository; being listed makes it tracked."""

    reviewers: ReviewerList | None = None
    merging: dict[str, Any] = Field(default_factory=dict)


class Policy(Block):
    """The whole policy in force."""

    workers: Workers = Workers()
    pools: Pools = Field(default_factory=dict)
    web: Web = Web()
    reviewers: ReviewerList = ()
    trust: Trust = Trust()
    convergence: Convergence = Convergence()
    git: Git = Git()
    forge: Forge = Forge()
    merging: Merging = Merging()
    retention: Retention = Retention()
    tasks: Tasks = Tasks()
    models: dict[str, tuple[str, str, str]] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    weight_classes: dict[str, Annotated[WeightClass, OrNothing]] = Field(default_factory=dict)
    limits: Limits = Limits()
    budgets: Budgets = Budgets()
    repositories: dict[str, RepositoryPolicy] = Field(default_factory=dict)

    @property
    def caps_attempts(self) -> bool:
        """Whether anything bounds how many attempts run at once."""
        weights = self.weight_classes.values()
        return self.limits.caps_attempts or any(each.max is not None or each.per_node is not None for each in weights)

    def reviewers_for(self, repository: str) -> tuple[ReviewerEntry, ...]:
        """The reviewers of ``owner/repo``, the general ones unless it has its own."""
        own = self._own(repository)
        return self.reviewers if own is None or own.reviewers is None else own.reviewers

    def merging_for(self, repository: str) -> Merging:
        """The merging block of ``owner/repo``: its own keys laid over the general ones."""
        own = self._own(repository)
        if own is None or not own.merging:
            return self.merging
        return Merging.model_validate({**self.merging.model_dump(by_alias=True), **own.merging})

    def bounds_for(self, node: str, pool: str) -> NamedBounds | None:
        """The bounds that the operator has set for this pool, None if it goes by its own."""
        return self.pools.get(node, {}).get(pool)

    def _own(self, repository: str) -> RepositoryPolicy | None:
        wanted = repository.lower()
        return next((own for name, own in self.repositories.items() if name.lower() == wanted), None)
