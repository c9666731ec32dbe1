"""What happens before anything is served: tables, definitions, static files, the first admin and credential."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import call_command

from runs.people import bootstrap_admin
from runs.periodic import periodic_sync
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Callable


def prepare(say: Callable[[str], None], url: str) -> None:
    """Bring the data folder up to this version; safe to repeat. Raises ``Invalid`` for a policy or definition fault."""
    policy()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("sync_definitions", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    periodic_sync()
    if bootstrap_admin(settings.FACTORY.home, url):
        say(f"made the first admin and token: {settings.FACTORY.home / 'admin.json'}")
    from workers.services.credential_file import bootstrap_credential

    bootstrap_credential(url)
