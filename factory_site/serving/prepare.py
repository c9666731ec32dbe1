"""What happens before anything is served: tables, definitions, static files, the first admin and credential."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import call_command

from convergence.forge_access import forge_client
from factory_site.serving.database import database_check, one_at_a_time
from factory_site.serving.static import static_collect
from runs.contract.errors import FactoryError, Invalid
from runs.definitions.sync import definitions_exist, definitions_sync
from runs.people import bootstrap_admin
from runs.periodic import periodic_sync
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK = "manage.py sync_definitions --check"


def prepare(say: Callable[[str], None], url: str) -> None:
    """Bring data folder and database up to this version; safe to repeat, and from several hosts at once.

    Raises ``Invalid`` for a database of a newer version and for a policy or first definitions that are wrong.
    """
    policy()
    database_check(set_up=False)
    with one_at_a_time("prepare"):
        database_check(set_up=False)
        call_command("migrate", interactive=False, verbosity=0)
        _definitions(say)
        periodic_sync()
        if bootstrap_admin(settings.FACTORY.home, url):
            say(f"made the first admin and token: {settings.FACTORY.home / 'admin.json'}")
        from workers.services.credential_file import bootstrap_credential

        bootstrap_credential(url)
    static_collect()
    forge_note(say)


def forge_note(say: Callable[[str], None]) -> None:
    """Say so when no token for the forge is found; everything is served all the same."""
    try:
        forge_client().config.tokens.token()
    except FactoryError as error:
        say(f"note: {error.message}; without one no pull request can be read")


def _definitions(say: Callable[[str], None]) -> None:
    """Load the definitions; files that went wrong leave the last good set in use, if there is one."""
    try:
        definitions_sync(actor="operator:serve@cli")
    except Invalid as error:
        if not definitions_exist():
            raise
        say(f"{error.message}\nthe definitions that were loaded last stay in use; mend the files, then run: {CHECK}")
