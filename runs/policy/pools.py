"""Pools of workers: how many there may be on a machine, and how long an idle one stays."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from runs.contract.pool import DEFAULT_COOL_DOWN, DEFAULT_MAX, DEFAULT_MIN, LARGEST_POOL, LONGEST_COOL_DOWN
from runs.policy.forms import Block


class Bounds(Block):
    """Least and most workers of a pool."""

    min: Annotated[int, Field(ge=0, le=LARGEST_POOL)] = DEFAULT_MIN
    max: Annotated[int, Field(ge=1, le=LARGEST_POOL)] = DEFAULT_MAX

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            message = f"min {self.min} is more than max {self.max}"
            raise ValueError(message)
        return self


class Workers(Bounds):
    """Bounds of a pool that no flag and no block of ``pools`` says otherwise about."""

    cool_down_seconds: Annotated[int, Field(ge=0, le=LONGEST_COOL_DOWN)] = DEFAULT_COOL_DOWN


class NamedBounds(Bounds):
    """What the operator wants of one pool: both bounds, so that a glance at the file tells."""

    min: Annotated[int, Field(ge=0, le=LARGEST_POOL)]
    max: Annotated[int, Field(ge=1, le=LARGEST_POOL)]


Pools = dict[str, dict[str, NamedBounds]]
"""``<node>: {<pool>: {min, max}}``."""
