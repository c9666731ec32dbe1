"""What may have come up since a merge was decided, asked again immediately before its call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merging.base import base_wants_approval, head_is_behind
from merging.decisions.heads import changes_were_requested
from merging.effects.plan import Stop
from merging.facts import Reason
from merging.looks.dependencies import dependencies_follow
from merging.looks.ready import UI, held_by
from merging.models import Dependency, HoldKind
from merging.services.holds import hold_kinds
from runs.policy import policy

if TYPE_CHECKING:
    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from merging.decisions.protocol import Protocol
    from merging.models import MergeFlow


def stop_anew(
    client: ForgeClient, row: MergeFlow, read: PullFacts, protocol: Protocol | None, *, base: str
) -> Stop | None:
    """Return what speaks against the call although the forge would merge; None when nothing does.

    The next look finds the same and waits, asks or goes back to review for it, so nothing is counted.
    """
    rules = policy().merging_for(read.repository.name_with_owner)
    holds = hold_kinds(row.pull)
    if read.base_ref != base:
        return _stop(f"its base is now {read.base_ref}")
    if held := held_by(row.pull, holds):
        return _stop(held.replace("_", " "))
    if changes_were_requested(read.opinionated_reviews, row.converged_at, rules.review_after):
        return _stop("changes were requested")
    if protocol is not None and protocol.land_method == UI:
        return _stop("only a person may merge into its base")
    if base_wants_approval(rules, base) and row.approved_head != read.head_sha:
        return _stop(f"nobody has let this head into {base}")
    dependencies_follow(client, [(row, read)])
    if Dependency.objects.in_the_way().filter(pull=row.pull).exists():
        return _stop("it waits for another pull request")
    if HoldKind.FRESH_BASE in holds and head_is_behind(client, read):
        return _stop("its checks have not seen the tip of its base")
    return None


def _stop(message: str) -> Stop:
    return Stop(Reason.NOT_READY, message, refused=False)
