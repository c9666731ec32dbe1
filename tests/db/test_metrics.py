"""The metrics: who may read them, and that each says what the rows say."""

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from factory_site.figures.metrics import metrics_text
from runs.clock import now
from runs.models import Run
from tests import queue_driver as queue

pytestmark = pytest.mark.django_db


def values():
    families = text_string_to_metric_families(metrics_text().decode())
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_the_metrics_say_what_the_rows_say():
    queue.load_definitions()
    assert values()["factory_runs_queued", "ready"] == 0
    run = queue.enqueue()
    queue.enqueue()
    Run.objects.filter(pk=run.pk).update(created_at=now() - timedelta(seconds=100))
    attempt = queue.claim()
    queue.publish(attempt, queue.completed_body(attempt))
    found = values()
    assert found["factory_runs_queued", "ready"] == 1
    assert found["factory_runs_ended", "none", "completed"] == 1
    assert found["factory_attempts_ended", "none"] == 1
    assert 100 <= found["factory_run_wait_seconds", "0.95"] < 160
    assert found["factory_run_pickup_seconds", "0.5"] < 60
    assert found["factory_workers", "idle"] == 0
    assert {("factory_outbox_lag_seconds",), ("factory_reaper_lag_seconds",), ("factory_spend_today_usd",)} <= set(
        found
    )


def test_a_stranger_reads_no_metrics(client):
    assert client.get("/metrics").status_code == 401
