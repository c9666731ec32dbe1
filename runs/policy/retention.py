"""How long what is over is kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from runs.policy.forms import Block

Days = Annotated[int, Field(ge=1, le=36500)] | None  # None: for ever


class Retention(Block):
    """Days until retention removes what is over; null keeps it for ever."""

    trace_days: Days = 14
    log_days: Days = 30
    run_days: Days = 400
    outbox_days: Days = 14
    artifact_days: Days = 7
    delivery_days: Days = 400
    quoted_text_days: Days = 180
