"""The last checks before a merge call, on facts of this moment, and how the head is to land."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from convergence.forge.facts import PullState
from convergence.forge.singles import pull_authors, repository
from merging.base import base_is_dead_end
from merging.decisions.mergeability import classify_mergeability, merge_facts
from merging.decisions.squash import choose_method, squash_body, squash_title
from merging.facts import Reason, Verdict
from merging.services.attempts import Plan
from runs.policy import policy

if TYPE_CHECKING:
    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from merging.decisions.protocol import Protocol

SQUASH = "squash"
MERGE_QUEUE, MERGIFY_QUEUE = "merge_queue", "mergify_queue"
OWN_TEXT = "the queue merges in its own way, with its own text"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the call is not made. ``refused``: by the forge, so that it counts when the head is ready all the same."""

    reason: Reason
    message: str = ""
    refused: bool = True


def stop_of(client: ForgeClient, read: PullFacts, protocol: Protocol | None, *, head: str) -> Stop | None:
    """Return what keeps this reading from being merged at ``head``; None when the call may be made.

    The order: ended, not ready, another head, dead-end base.
    """
    if read.state is PullState.MERGED:
        return Stop(Reason.ALREADY_MERGED)
    if read.state is PullState.CLOSED:
        return Stop(Reason.CLOSED)
    if read.head_sha is not None and read.head_sha != head:
        return Stop(Reason.HEAD_MODIFIED, f"the branch is at {read.head_sha[:7]}")
    found = classify_mergeability(merge_facts(read), protocol, admin=admin_on(protocol))
    if found.verdict is not Verdict.READY:
        return Stop(Reason.NOT_READY, f"{found.verdict}: {found.reason}".replace("_", " "))
    if base_is_dead_end(client, read):
        return Stop(Reason.DEAD_END_BASE, f"{read.base_ref} was merged already")
    return None


def admin_on(protocol: Protocol | None) -> bool:
    """Whether the forge's review rule is lifted: by the setting, or by what the base declares."""
    return settings.FACTORY.merge_admin or (protocol is not None and protocol.land_method == "admin")


def plan_of(client: ForgeClient, read: PullFacts, protocol: Protocol | None, *, head: str) -> Plan:
    """Return how this head lands: the method that the repository allows, and the texts of a squash."""
    owner, name = read.repository.name_with_owner.split("/", 1)
    known = repository(client, owner, name)
    allowed = {"squash": known.allow_squash, "merge": known.allow_merge, "rebase": known.allow_rebase}
    wished = protocol.merge_method if protocol and protocol.merge_method else settings.FACTORY.merge_method
    method, why = choose_method(wished, allowed)
    admin = admin_on(protocol)
    if read.merge_queue_enabled and not admin:
        return Plan(head=head, method=MERGE_QUEUE, method_reason=OWN_TEXT)
    if protocol is not None and protocol.land_method == MERGIFY_QUEUE:
        return Plan(head=head, method=MERGIFY_QUEUE, method_reason=OWN_TEXT, comment=protocol.land_comment)
    if method != SQUASH:
        return Plan(head=head, method=method, method_reason=why, admin=admin)
    wanted = policy().merging_for(read.repository.name_with_owner).squash
    author = read.author.login.lower() if read.author else ""
    authors = [] if wanted.body == "commits" else pull_authors(client, owner, name, read.number).items
    return Plan(
        head=head,
        method=method,
        method_reason=why,
        title=squash_title(wanted.title, title=read.title, number=read.number),
        body=squash_body(
            wanted.body,
            text=read.body,
            authors=[(each.name, each.email) for each in authors if (each.login or "").lower() != author or not author],
        ),
        admin=admin,
    )
