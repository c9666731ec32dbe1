"""Performing one write of the forge for an effect: its memory lives in the outbox row until it is final."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.writes.perform import perform
from runs.contract.errors import Transient
from runs.models.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.client import ForgeClient
    from convergence.forge.writes.contract import Observed
    from runs.flows.registry import EffectCall

MEMORY = "memory"


def write_performed(client: ForgeClient, call: EffectCall, operation: str, arguments: Mapping[str, Any]) -> Observed:
    """Return the final outcome; raises ``Transient`` while it is not known, after keeping what the next try needs.

    A repeated delivery looks before it sends, so that the write happens once even when the process was killed between
    the call and its record.
    """
    row = Outbox.objects.filter(key=call.key).only("observed").first()
    memory = row.observed.get(MEMORY, {}) if row else {}
    observed = perform(client, operation, arguments, call.key, earlier_try=call.repeated, memory=memory)
    if observed.again_after is not None:
        Outbox.objects.filter(key=call.key).update(observed={MEMORY: dict(observed.memory)})
        raise Transient("not_observed_yet", f"{operation} is not seen on GitHub yet", retry_after=observed.again_after)
    return observed
