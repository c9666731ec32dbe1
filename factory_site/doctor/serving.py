"""What serve finds, kept in a row: the number for every page's frame, and its own settings for commands beside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError

from factory_site.doctor import clockwork, forge
from factory_site.doctor.report import EVALUATION_SECONDS, Finding, Level, every_check, findings, sorted_findings
from factory_site.models import DoctorReport
from runs.clock import now as clock_now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Check = Callable[[datetime], Sequence[Finding]]

FRESH = timedelta(seconds=6 * EVALUATION_SECONDS)
# These judge settings, environment and policy of the process that makes them: a shell has others than serve.
OF_SETTINGS: tuple[Check, ...] = (
    clockwork.settings_wrong,
    clockwork.policy_wrong,
    forge.forge_unauthorised,
    forge.webhooks_silent,
)
OWN = "as this shell sees it; serve has not reported"


def findings_stored() -> None:
    """Evaluate every check; keep how many anomalies there are, and what was found of the settings of this process."""
    own = findings(OF_SETTINGS)
    found = [*own, *findings(_others())]
    number = sum(each.count for each in found if each.level is Level.ANOMALY)
    kept = {"anomalies": number, "evaluated_at": clock_now(), "of_settings": [each.document() for each in own]}
    DoctorReport.objects.update_or_create(pk=1, defaults=kept)


def findings_beside_serve() -> list[Finding]:
    """What a command finds, anomalies first: settings are judged as serve reported within the minute.

    Without such a report they are those of the command itself, and the sentence says so.
    """
    kept = _kept()
    if kept is None:
        own = [replace(each, text=f"{each.text} ({OWN})") for each in findings(OF_SETTINGS)]
    else:
        own = [_finding(document) for document in kept.of_settings]
    return sorted_findings([*own, *findings(_others())])


def _kept() -> DoctorReport | None:
    try:
        return DoctorReport.objects.filter(pk=1, evaluated_at__gt=clock_now() - FRESH).first()
    except DatabaseError:  # the tables of an older version, which a finding of its own tells
        return None


def _others() -> list[Check]:
    return [check for check in every_check() if check not in OF_SETTINGS]


def _finding(document: dict[str, Any]) -> Finding:
    since = document["since"]
    return Finding(
        code=document["code"],
        count=document["count"],
        since=datetime.fromisoformat(since) if since else None,
        text=document["text"],
        examples=tuple(document["examples"]),
        mend=document["mend"],
        level=Level(document["level"]),
    )
