"""Machines and prices: how the web listens, what a token costs."""

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
