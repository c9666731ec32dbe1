"""Machines, weights and money: how the web listens, what runs weigh and cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from runs.policy.forms import Block


class Web(Block):
    """How the web processes listen."""

    trusted_proxies: tuple[str, ...] = ()
    wait_slots: Annotated[int, Field(ge=1, le=1000)] = 64


class Price(Block):
    """USD per million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cache_read: Annotated[float, Field(ge=0)] = 0.0
    cache_write: Annotated[float, Field(ge=0)] = 0.0


class WeightClass(Block):
    """A weight that runs carry; limits on it come with a later version."""


class Limits(Block):
    """How much of something there may be at once, and how long a run may be extended."""

    max_run_minutes: Annotated[int, Field(ge=1, le=1440)] = 180
