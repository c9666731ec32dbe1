"""Deliveries of a world to the product's own admission, in one process: lost, doubled, shuffled and late by fault."""

import json
import random
import uuid

from fixtures.simulator.hooks import payloads
from runs.intake.deliveries import delivery_admit


class DirectHooks:
    """Keeps what the world tells until it is delivered; a site without hooks is told nothing."""

    def __init__(self, world, *, told=True):
        self._world = world
        self._told = told
        self._kept = []
        world.listeners.append(self)

    def __call__(self, change):
        faults = self._world.faults
        if not self._told:
            return
        for event, payload in payloads(self._world, change):
            if faults.take("lose_hooks"):
                continue
            told = (str(uuid.uuid4()), event, payload)
            delay = faults.take("delay_hooks")
            for _ in range(2 if faults.take("double_hooks") else 1):
                if delay:
                    self._world.clock.call_after(delay.facts["seconds"], lambda told=told: self._kept.append(told))
                else:
                    self._kept.append(told)

    def deliver(self):
        """Everything that waits arrives."""
        kept, self._kept = self._kept, []
        shuffle = self._world.faults.take("shuffle_hooks") if kept else None
        if shuffle:
            random.Random(shuffle.facts["seed"]).shuffle(kept)
        for identity, event, payload in kept:
            body = json.dumps(payload).encode()
            delivery_admit(source="github", delivery_id=identity, kind=event, payload=payload, body=body)
