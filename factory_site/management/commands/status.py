"""`manage.py status`: what is going on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from factory_site.doctor.serving import findings_beside_serve
from factory_site.serving.control_plane import control_address, control_health
from factory_site.shell.limit_lines import pause_lines
from factory_site.shell.pool_lines import pool_line
from factory_site.shell.status_lines import SEPARATOR, anomalies_text, control_text, queue_text, workers_text
from factory_site.shell.status_lines import line as status_line
from factory_site.status import status_document
from runs.clock import now
from runs.commands import ProductCommand
from workers.selectors.here import as_seen_here, supervisor_here
from workers.selectors.pools import pools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Print the control plane, the queue, pools, workers, open tasks, spend, pauses and anomalies."""

    help = "Show what is going on."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--json", action="store_true")

    def handle(self, **options: Any) -> None:
        """Print the document, for people or as JSON."""
        document = status_document(findings_beside_serve())
        if options["json"]:
            self.stdout.write(json.dumps(document, cls=DjangoJSONEncoder, indent=2))
            return
        at = now()
        self._line("control", control_text(document, control_address(), control_health(), at))
        self._line("queue", queue_text(document, at))
        self._line("pulls", _counts(document["pullRequests"]))
        self._line("runs", _counts(document["runs"]))
        here = supervisor_here(settings.FACTORY.home)
        for row in pools():
            self._line("pool", pool_line(as_seen_here(row, here), at, here))
        self._line("workers", workers_text(document["workers"]))
        tasks = document["tasks"]
        self._line("tasks", f"{tasks['open']} open · {tasks['overdue']} overdue")
        self._line("spend", document["spend"]["line"])
        for line in pause_lines():
            self._line("pause", line)
        self._line("anomalies", anomalies_text(document))
        for anomaly in document["anomalies"]:
            self.stdout.write(f"! {anomaly['code']} {anomaly['subject']}: {anomaly['text']}\n  mend: {anomaly['mend']}")

    def _line(self, name: str, text: str) -> None:
        self.stdout.write(status_line(name, text))


def _counts(numbers: Mapping[str, int]) -> str:
    return SEPARATOR.join(f"{number} {state}" for state, number in numbers.items()) or "none under way"
