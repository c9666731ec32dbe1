"""The check of the control plane itself: only a command that runs beside it can make it."""

from __future__ import annotations

from factory_site.doctor.report import Finding
from factory_site.serving.control_plane import control_address, control_health


def control_plane_down() -> list[Finding]:
    """No sound answer within 5 s."""
    if control_health() is not None:
        return []
    address = control_address()
    text = f"the control plane does not answer at {address}"
    return [Finding("control_plane_down", 1, None, text, (address,), "manage.py serve")]
