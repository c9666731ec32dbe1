"""Submitting a pull request, and submitting it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.flow import FINAL_PULL_STATES
from convergence.forge.facts import Profile, PullState
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pull
from convergence.forge.references import lookup, resolve_reference
from convergence.forge_access import forge_client
from convergence.models import ConvergenceFlow, PullRequest, PullRequestGeneration
from convergence.services.generations import Wanted, generation_start, rounds_clamped
from convergence.services.identity import head_seen, pull_columns, repository_seen
from convergence.services.memory import answers_carried
from convergence.submissions import dependency_part
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Invalid, NotFound, Refused, Transient
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts, PullRef

UNAVAILABLE_SECONDS = 30.0  # when a caller may try again if the forge did not say
READ_ONLY_HEAD = "head_may_be_read_only"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submission; ``ignored`` names the fields that a running one did not take over."""

    pull: PullRequest
    flow: ConvergenceFlow | None
    already_running: bool
    ignored: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer of the API, in its own spelling."""
        return {
            "prKey": self.pull.key,
            "state": self.pull.state,
            "round": self.flow.round if self.flow else 1,
            "generation": self.pull.generation,
            "alreadyRunning": self.already_running,
            "ignored": list(self.ignored),
            "warnings": list(self.warnings),
        }


def pull_submit(
    *,
    reference: str,
    actor: str,
    max_rounds: int | None = None,
    auto_merge: bool | None = None,
    depends_on: Sequence[str] = (),
    client: ForgeClient | None = None,
) -> Submitted:
    """Begin a generation of the pull request, or say that one is running.

    The forge is read before the one transaction, which locks the pull request's row; any number of calls at once make
    one generation. Raises ``Invalid`` bad_reference, pull_request_closed, invalid_field or
    those of dependencies, ``NotFound``
    unknown_pull_request, ``Transient`` forge_unavailable; then nothing is stored.
    """
    if max_rounds is not None and (isinstance(max_rounds, bool) or not isinstance(max_rounds, int)):
        raise Invalid("invalid_field", "maxRounds: it should be a whole number.", details={"field": "maxRounds"})
    client = (client or forge_client()).serving(Purpose.PERSON)
    facts = _read(client, resolve_reference(reference, client.config.server_url))
    if facts.state is not PullState.OPEN:
        raise Invalid(
            "pull_request_closed",
            f"{facts.key} is {facts.state} on GitHub; reopen it, then submit it again.",
            details={"prKey": facts.key, "state": str(facts.state)},
        )
    for branch in (facts.head_ref, facts.base_ref):
        if branch.startswith("-"):
            raise Invalid(
                "bad_reference",
                f"{facts.key}: the name of its branch {branch} begins with a hyphen, which git reads as an option; "
                "rename the branch, then submit it again.",
                details={"prKey": facts.key, "branch": branch},
            )
    first = dependency_part().check(client, facts, depends_on)
    given = {"maxRounds": max_rounds, "autoMerge": auto_merge, "dependsOn": depends_on or None}
    wanted = Wanted(
        max_rounds=rounds_clamped(max_rounds),
        auto_merge=True if auto_merge is None else auto_merge,
        actor=actor,
        warnings=[READ_ONLY_HEAD] if facts.is_cross_repository and not facts.maintainer_can_modify else [],
    )
    with joined_transaction():
        now = clock_now()
        submitted = _submit(facts, wanted, [name for name, value in given.items() if value is not None], now)
        if not submitted.already_running:
            dependency_part().store(submitted.pull, first, actor=actor, now=now)
        return submitted


def pull_resubmit(*, pull: PullRequest, actor: str, now: datetime) -> ConvergenceFlow:
    """Begin the next generation from within the transaction of the flow that returns the pull request to review.

    Same rounds and merge wish as before; ``returns`` counts the automatic ones in a row. Raises ``Refused`` while
    another flow still drives it.
    """
    locked = PullRequest.objects.select_for_update().select_related("repository").get(pk=pull.pk)
    if _active(locked) is not None:
        raise Refused("already_running", f"{locked.key} is still driven by a flow of generation {locked.generation}")
    before = PullRequestGeneration.objects.get(pull=locked, number=locked.generation)
    row = generation_start(
        locked,
        Wanted(max_rounds=before.max_rounds, auto_merge=before.auto_merge, actor=actor, returns=before.returns + 1),
        now,
    )
    answers_carried(locked, generation=before.number, to=row.generation)
    pull.generation, pull.state, pull.updated_at = locked.generation, locked.state, locked.updated_at
    return row


def _submit(facts: PullFacts, wanted: Wanted, given: Sequence[str], now: datetime) -> Submitted:
    repository = repository_seen(facts.repository, now)
    columns = pull_columns(facts)
    row, created = PullRequest.objects.get_or_create(
        repository=repository,
        number=facts.number,
        defaults={
            **columns,
            "state": "converging",
            "root": facts.key,
            "created_at": now,
            "updated_at": now,
        },
    )
    pull = PullRequest.objects.select_for_update().select_related("repository").get(pk=row.pk)
    if not created and pull.state not in FINAL_PULL_STATES:
        running = ConvergenceFlow.rows().filter(pull=pull, generation=pull.generation).first()
        return Submitted(pull, running, already_running=True, ignored=given)
    PullRequest.objects.filter(pk=pull.pk).update(**columns)
    for name, value in columns.items():
        setattr(pull, name, value)
    head_seen(pull, facts)
    flow = generation_start(pull, wanted, now)
    return Submitted(pull, flow, already_running=False, warnings=wanted.warnings)


def _active(pull: PullRequest) -> ConvergenceFlow | None:
    return ConvergenceFlow.rows().filter(subject=pull.subject, ended_at__isnull=True).first()


def _read(client: ForgeClient, ref: PullRef) -> PullFacts:
    """The pull request as GitHub shows it now; whatever keeps it from being read is one error."""
    try:
        found = lookup(client, ref.owner, ref.name, ref.number)
        return read_pull(client, Profile.ALIVE, found)
    except NotFound as error:
        raise NotFound("unknown_pull_request", error.message, details=error.details) from error
    except Invalid:
        raise
    except FactoryError as error:
        pause = error.retry_after if isinstance(error, Transient) else UNAVAILABLE_SECONDS
        raise Transient(
            "forge_unavailable",
            f"GitHub cannot be read now ({error.message}); nothing was submitted, try again.",
            retry_after=max(1.0, pause),
            details={"code": error.code},
        ) from error
