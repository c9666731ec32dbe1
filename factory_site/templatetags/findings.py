"""Words for findings and for what people let pass."""

from __future__ import annotations

from django import template

from convergence.models import FindingKind, FindingTrend, WaiverKind

register = template.Library()


@register.filter
def finding_kind(value: str) -> str:
    """Where a finding comes from."""
    return str(FindingKind(value).label)


@register.filter
def count_word(name: str) -> str:
    """The name of one of the gate's counts, ``openThreads``, as people read it."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


@register.filter
def trend_word(value: str) -> str:
    """How a finding stood at the entry of a round."""
    return str(FindingTrend(value).label).lower()


@register.filter
def waiver_kind(value: str) -> str:
    """What was let pass."""
    return str(WaiverKind(value).label)
