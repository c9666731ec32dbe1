"""`manage.py status`: what is going on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

from factory_site.limit_lines import pause_lines
from factory_site.pool_lines import pool_line
from factory_site.status import status_document
from runs.clock import now
from runs.commands import ProductCommand
from workers.selectors.here import as_seen_here, supervisor_here
from workers.selectors.pools import pools

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Print counts by state, workers, the queue, open tasks and anomalies."""

    help = "Show what is going on."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--json", action="store_true")

    def handle(self, **options: Any) -> None:
        """Print the document, for people or as JSON."""
        document = status_document()
        if options["json"]:
            self.stdout.write(json.dumps(document, cls=DjangoJSONEncoder, indent=2))
            return
        for title in ("pullRequests", "runs", "workers"):
            counts = ", ".join(f"{count} {state}" for state, count in document[title].items()) or "none under way"
            self.stdout.write(f"{title}: {counts}")
        at = now()
        here = supervisor_here(settings.FACTORY.home)
        for row in pools():
            self.stdout.write(f"pool: {pool_line(as_seen_here(row, here), at, here)}")
        tasks = document["tasks"]
        self.stdout.write(f"tasks: {tasks['open']} open, {tasks['overdue']} overdue")
        self.stdout.write(f"spend: {document['spend']['line']}")
        for line in pause_lines():
            self.stdout.write(f"pause: {line}")
        for anomaly in document["anomalies"]:
            self.stdout.write(f"! {anomaly['code']} {anomaly['subject']}: {anomaly['text']}\n  mend: {anomaly['mend']}")
        if not document["anomalies"]:
            self.stdout.write("no anomalies")
