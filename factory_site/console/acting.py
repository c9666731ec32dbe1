"""What a form must bring along before anything is done: its reason, and for grave acts the subject typed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from django.http import HttpRequest

LONGEST_REASON = 500  # characters


def reason_given(request: HttpRequest) -> str:
    """Why the person does it; raises ``Invalid`` without a reason."""
    reason = request.POST.get("reason", "").strip()
    if not reason:
        raise Invalid("reason_required", "Say why: the reason stands in the journal.", details={"field": "reason"})
    return reason[:LONGEST_REASON]


def label_typed(request: HttpRequest, label: str) -> bool:
    """Whether the person typed the subject's label, as grave acts ask for; False when the field was left empty.

    Raises ``Invalid`` for another text: whoever types something means to confirm it.
    """
    typed = request.POST.get("confirm", "").strip()
    if typed and typed != label:
        raise Invalid(
            "invalid_field", f"Type {label} to confirm; you typed {typed[:80]}.", details={"field": "confirm"}
        )
    return bool(typed)
