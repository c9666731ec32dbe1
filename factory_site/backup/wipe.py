"""Emptying the database: every table is dropped, and made again as of some migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import apps
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Max

from factory_site.backup.tables import kept_models
from runs.clock import now
from runs.contract.errors import Refused
from runs.models import PeriodicTask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.apps.registry import Apps

ALIVE_SECONDS = 30  # every control plane starts a pass more often


def rows_present() -> dict[str, int]:
    """Tables of the product that hold rows, by label, with their number; empty for a database that holds nothing."""
    tables = set(connection.introspection.table_names())
    found = {}
    for model in kept_models(apps):
        if model._meta.db_table in tables and (count := model._base_manager.count()):
            found[model._meta.label] = count
    return found


def nobody_serves() -> None:
    """Raise Refused while passes are started on this database, by whatever host."""
    if PeriodicTask._meta.db_table not in connection.introspection.table_names():
        return
    last = PeriodicTask.objects.aggregate(last=Max("started_at"))["last"]
    ago = (now() - last).total_seconds() if last else ALIVE_SECONDS
    if ago < ALIVE_SECONDS:
        raise Refused(
            "already_running",
            f"a control plane worked on this database {ago:.0f} s ago; stop every `serve` on it and try again "
            f"in {ALIVE_SECONDS} s",
        )


def database_wiped() -> None:
    """Drop every table of the product and of Django; tables of others in the same database stay."""
    own = ("django_", *(f"{config.label}_" for config in apps.get_app_configs()))
    tables = [table for table in connection.introspection.table_names() if table.startswith(own)]
    quoted = [connection.ops.quote_name(table) for table in tables]
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql" and quoted:
            cursor.execute(f"DROP TABLE {', '.join(quoted)} CASCADE")
        elif connection.vendor == "sqlite":
            for table in quoted:
                cursor.execute(f"DROP TABLE {table}")


def database_made(migrations: Iterable[tuple[str, str]] | None = None) -> Apps:
    """Make the tables as of these migrations, or of all; return the models of that state."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    wanted = graph.leaf_nodes() if migrations is None else _ends(executor, set(migrations))
    executor.migrate(wanted)
    executor.loader.build_graph()
    return executor.loader.project_state(wanted).apps


def _ends(executor: MigrationExecutor, applied: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the migrations on which no other of them builds."""
    nodes = executor.loader.graph.node_map
    known = [key for key in nodes if key in applied]
    return [key for key in known if not any(child.key in applied for child in nodes[key].children)]
