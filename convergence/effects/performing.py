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


def write_performed(
    client: ForgeClient, call: EffectCall, operation: str, arguments: Mapping[str, Any], *, part: str = ""
) -> Observed:
    """Return the final outcome; raises ``Transient`` while it is not known, after keeping what the next try needs.

    A repeated delivery looks before it sends, so that the write happens once even when the process was killed between
    the call and its record. An effect of several writes names each ``part``: all have their own key and memory.
    """
    row = Outbox.objects.filter(key=call.key).only("observed").first()
    memories = row.observed.get(MEMORY, {}) if row else {}
    key = f"{call.key}:{part}" if part else call.key
    observed = perform(
        client, operation, arguments, key, earlier_try=call.repeated, memory=memories.get(part or operation, {})
    )
    if observed.again_after is not None:
        kept = {**memories, part or operation: dict(observed.memory)}
        Outbox.objects.filter(key=call.key).update(observed={MEMORY: kept})
        raise Transient("not_observed_yet", f"{operation} is not seen on GitHub yet", retry_after=observed.again_after)
    return observed
