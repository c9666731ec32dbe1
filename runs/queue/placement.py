"""Placement classes: found or made at enqueue, matched against offers at claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.placement import Offer, Requirement, matches
from runs.contract.spec import spec_value
from runs.models import PlacementClass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def requirement_of(spec: Mapping[str, Any]) -> Requirement:
    """What a run specification needs of a worker, with the two names that caps go by."""
    return Requirement(
        adapter=spec["adapter"],
        workspace_kind=spec["workspace"]["kind"],
        labels=dict(spec.get("placement") or {}),
        repository=spec.get("repository") or None,
        agent_id=spec["agent"].partition("@")[0],
        weight_class=spec_value(spec, "weightClass"),
    )


def class_requirement(row: PlacementClass) -> Requirement:
    """The requirement that a class stands for."""
    return Requirement(
        adapter=row.adapter,
        workspace_kind=row.workspace_kind,
        labels=row.labels,
        repository=row.repository or None,
        agent_id=row.agent_id,
        weight_class=row.weight_class,
    )


def placement_class_for(requirement: Requirement, at: datetime) -> PlacementClass:
    """The class of this requirement, made if it is the first of its kind. Two makers at once get the same row."""
    row, _ = PlacementClass.objects.get_or_create(
        key_hash=requirement.class_hash(),
        defaults={
            "adapter": requirement.adapter,
            "labels": dict(requirement.labels),
            "workspace_kind": requirement.workspace_kind,
            "repository": requirement.repository or "",
            "agent_id": requirement.agent_id,
            "weight_class": requirement.weight_class,
            "created_at": at,
        },
    )
    return row


class OfferMatches:
    """Remembers which classes an offer satisfies. Classes are immutable and named by content, so nothing goes stale."""

    LIMIT = 256  # offers; a fleet has few distinct ones, and an old entry is cheap to make again

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], dict[str, bool]] = {}

    def matching(self, offer: Offer, rows: list[PlacementClass]) -> list[PlacementClass]:
        """Those of the classes that a worker with this offer may serve, in the order given."""
        key = offer_key(offer)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self.LIMIT:
                self._known.clear()
            known = self._known.setdefault(key, {})
        for row in rows:
            if row.key_hash not in known:
                known[row.key_hash] = matches(offer, class_requirement(row))
        return [row for row in rows if known[row.key_hash]]


def offer_key(offer: Offer) -> tuple[object, ...]:
    """A hashable form: equal for offers that match the same runs."""
    return (
        frozenset(offer.labels.items()),
        offer.adapters,
        offer.any_adapter,
        offer.adapter_override,
        offer.workspace_kinds,
        offer.repositories,
    )


OFFER_MATCHES = OfferMatches()
