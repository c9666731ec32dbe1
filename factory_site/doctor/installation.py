"""Checks of the installation: secrets that others can read, the database's migrations, files that are not loaded."""

from __future__ import annotations

import stat
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from factory_site.config import SETTINGS_FILE
from factory_site.doctor.report import EXAMPLES, Finding
from factory_site.serving.database import migrations_missing
from runs.definitions.sync import definitions_exist, definitions_unsynced, definitions_written_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DIFFERS_FOR = timedelta(seconds=60)  # somebody may still be writing
GROUP, OTHERS = (stat.S_IRGRP, stat.S_IXGRP), (stat.S_IROTH, stat.S_IXOTH)


def secrets_open(at: datetime) -> list[Finding]:
    """Files with secrets that other users of this machine can read."""
    del at
    home = settings.FACTORY.home
    kept = [home / SETTINGS_FILE, home / "secret.key", *sorted((home / "secrets").glob("*"))]
    open_files = [str(path) for path in kept if path.is_file() and _is_open(path, home)]
    if not open_files:
        return []
    text = f"{open_files[0]} can be read by others"
    mend = f"chmod 600 {' '.join(open_files)}"
    return [Finding("secret_mode", len(open_files), None, text, tuple(open_files[:EXAMPLES]), mend)]


def migrations_pending(at: datetime) -> list[Finding]:
    """Tables of an older version."""
    del at
    missing = migrations_missing()
    if not missing:
        return []
    word = "migration" if len(missing) == 1 else "migrations"
    text = f"the database lacks {len(missing)} {word}: {', '.join(missing[:EXAMPLES])}"
    return [Finding("migrations_pending", len(missing), None, text, tuple(missing[:EXAMPLES]), "manage.py migrate")]


def definitions_differ(at: datetime) -> list[Finding]:
    """Files of agents that were changed a minute ago and are not what is loaded."""
    written = definitions_written_at()
    if written is None or at - written <= DIFFERS_FOR or not definitions_exist():
        return []
    changes = definitions_unsynced()
    if not changes:
        return []
    text = f"{len(changes)} {'file differs' if len(changes) == 1 else 'files differ'} from what is loaded: {changes[0]}"
    return [
        Finding("definitions_differ", len(changes), written, text, changes[:EXAMPLES], "manage.py sync_definitions")
    ]


def _is_open(path: Path, home: Path) -> bool:
    """Whether the group or everybody may read the file, and may enter the data folder in which it lies."""
    file, folder = path.stat().st_mode, home.stat().st_mode
    return any(file & read and folder & enter for read, enter in (GROUP, OTHERS))


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (secrets_open, migrations_pending, definitions_differ)
