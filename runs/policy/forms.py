"""The forms that every block of the policy shares: camelCase keys, no unknown ones, durations as people write them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def span(text: str) -> timedelta | None:
    """A time as people write it, ``6h`` or ``90 s``; None for any other text."""
    short = re.fullmatch(r"(\d{1,9})\s*([smhd])", text.strip(), re.ASCII)
    return timedelta(seconds=int(short[1]) * UNITS[short[2]]) if short else None


def duration(value: object) -> object:
    """Read ``PT6H``, ``6h``, ``90 s``; anything else is left to the validator to refuse."""
    short = span(value) if isinstance(value, str) else None
    return value if short is None else short


Duration = Annotated[timedelta, BeforeValidator(duration), Field(gt=timedelta(0), le=timedelta(days=365))]


class Block(BaseModel):
    """Keys are camelCase in the file; unknown ones are refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)


def none_is_empty(value: object) -> object:
    """Read ``null`` where a mapping may stand: it takes away what the shipped file says."""
    return {} if value is None else value


OrNothing = BeforeValidator(none_is_empty)
