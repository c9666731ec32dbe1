"""The kernel's own rules: traces, logs, runs, deliveries, stored objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.artifacts.removal import objects_remove, objects_unreferenced, strays_remove
from runs.flows.move import EFFECT_TOPIC
from runs.models import Attempt, Outbox, ResultArtifact, TraceRow, WebhookDelivery
from runs.retention.ages import first_key_since
from runs.retention.documents import Documents
from runs.retention.rules import Rows, Rule, register_rule
from runs.retention.whole_runs import WholeRuns

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

LOGS = ("console", "transcript", "verify_log")


def traces_over(before: datetime) -> QuerySet[TraceRow]:
    """Trace rows of attempts that ended before."""
    rows = TraceRow.objects.filter(
        attempt__lt=first_key_since(Attempt, "claimed_at", before), attempt__finished_at__lt=before
    )
    return rows.order_by("attempt", "seq")


def logs_over(before: datetime) -> QuerySet[ResultArtifact]:
    """Logs of attempts that ended before and were not accepted: no receipt cites them."""
    rows = ResultArtifact.objects.filter(result__isnull=True, kind__in=LOGS, attempt__finished_at__lt=before)
    return rows.filter(attempt__lt=first_key_since(Attempt, "claimed_at", before)).order_by("attempt", "pk")


def outbox_over(before: datetime) -> QuerySet[Outbox]:
    """Deliveries that were made before, but those of flow effects: they are the record of what was written outside."""
    rows = Outbox.objects.filter(pk__lt=first_key_since(Outbox, "created_at", before), done_at__lt=before)
    return rows.exclude(topic=EFFECT_TOPIC).order_by("pk")


def deliveries_over(before: datetime) -> QuerySet[WebhookDelivery]:
    """Webhook deliveries that came before."""
    return WebhookDelivery.objects.filter(at__lt=before).order_by("at")


class Objects:
    """Stored objects to which nothing refers, and files that no row knows."""

    def count(self, before: datetime) -> int:
        """How many objects would go."""
        return objects_unreferenced(before)

    def remove_some(self, before: datetime) -> int:
        """Remove all of them; the transactions are bounded inside."""
        return objects_remove(before) + strays_remove(before)


def register_kernel_rules() -> None:
    """The rules in their order: what keeps other rows alive goes before them."""
    for rule in (
        Rule("traces", "trace_days", "trace rows", Rows(traces_over)),
        Rule("logs", "log_days", "logs of attempts that were not accepted", Rows(logs_over)),
        Rule("runs", "run_days", "runs at rest with all that belongs to them", WholeRuns()),
        Rule("outbox", "outbox_days", "deliveries made", Rows(outbox_over)),
        Rule("webhooks", "delivery_days", "webhook deliveries", Rows(deliveries_over)),
        Rule("documents", "run_days", "definitions and documents out of use", Documents()),
        Rule("artifacts", "artifact_days", "stored objects without a reference", Objects()),
    ):
        register_rule(rule)
