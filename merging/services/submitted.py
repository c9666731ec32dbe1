"""The ``dependsOn`` of a submit: checked before anything is stored, kept with the pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merging.decisions.dependencies import MOST, Reference, known_key, references_of
from merging.selectors.dependencies import leads_to
from merging.services.dependencies import dependencies_submitted, reference_key
from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from convergence.models import PullRequest

FIELD = {"field": "dependsOn"}


def submitted_check(client: ForgeClient, facts: PullFacts, references: Sequence[str]) -> tuple[Reference, ...]:
    """Return what the references name. Raises ``Invalid`` dependency_invalid, dependency_self, dependency_cycle."""
    named = references_of(
        list(references), repository=facts.repository.name_with_owner, server_url=client.config.server_url
    )
    if named.unreadable or len(references) > MOST:
        wrong = named.unreadable[0] if named.unreadable else f"{len(references)} references"
        raise Invalid(
            "dependency_invalid",
            f"dependsOn: {wrong!r} names no pull request; write owner/repo#12, and at most {MOST} of them.",
            details=FIELD,
        )
    own = known_key(facts.repository.forge_id, facts.number)
    for reference in named.references:
        key = reference_key(reference)
        if key == own or reference.key == facts.key.lower():
            raise Invalid(
                "dependency_self", f"dependsOn: {reference} is this pull request itself; leave it out.", details=FIELD
            )
        if leads_to(key, own):
            raise Invalid(
                "dependency_cycle",
                f"dependsOn: {reference} waits for {facts.key} already; drop one of the two dependencies first.",
                details=FIELD,
            )
    return named.references


def submitted_store(pull: PullRequest, references: Sequence[Reference], *, actor: str, now: datetime) -> None:
    """Keep them in the caller's transaction, in place of what an earlier submit named."""
    dependencies_submitted(pull, references, actor=actor, now=now)
