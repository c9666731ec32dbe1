"""`manage.py doctor`: what is wrong, and the command that mends it."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from factory_site.doctor.address import control_plane_down
from factory_site.doctor.report import is_well
from factory_site.doctor.serving import findings_beside_serve


class Command(BaseCommand):
    """Print one line for each finding and its mend; exit 1 if any is an anomaly, 0 for notices alone."""

    help = "Show what is wrong, each with the command that mends it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--json", action="store_true", help="the rows of GET /api/v1/doctor")

    def handle(self, **options: Any) -> None:
        """Run every check."""
        found = [*control_plane_down(), *findings_beside_serve()]
        if options["json"]:
            items = [each.document() for each in found]
            self.stdout.write(json.dumps({"items": items}, cls=DjangoJSONEncoder, indent=2))
        else:
            for each in found:
                sign = "!" if each.level == "anomaly" else "-"
                self.stdout.write(f"{sign} {each.code}: {each.text}\n  mend: {each.mend}")
            if is_well(found):
                self.stdout.write("no anomalies")
        if not is_well(found):
            sys.exit(1)
