"""What is under way is counted by the new limits too: attempts learn their class, runs their own budget."""

import json
from typing import Any

from django.db import migrations
from django.db.models import OuterRef, Subquery

MICRO = 1_000_000
AT_REST = ("completed", "refused", "failed", "timed_out", "cancelled")


def fill(apps: Any, schema_editor: Any) -> None:  # noqa: ARG001 - the shape that Django calls
    attempt_model, run_model = apps.get_model("runs", "Attempt"), apps.get_model("runs", "Run")
    spec_model = apps.get_model("runs", "RunSpec")
    own_class = run_model.objects.filter(pk=OuterRef("run_id")).values("placement_class_id")[:1]
    attempt_model.objects.filter(finished_at=None).update(placement_class_id=Subquery(own_class))
    live = spec_model.objects.exclude(run__state__in=AT_REST)
    for spec in live.filter(canonical__contains='"budget":').iterator(chunk_size=200):
        budget = json.loads(spec.canonical).get("budget") or {}
        usd = budget.get("usd")
        run_model.objects.filter(pk=spec.run_id).update(
            budget_micro_usd=None if usd is None else round(usd * MICRO), budget_tokens=budget.get("tokens")
        )


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_limits")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
