"""Hand a command line to Django, once the settings are known to be right."""

from __future__ import annotations

import os
import sys

from factory_site.config import SettingsError, load_config


def run(argv: list[str]) -> int:
    """Run one management command and return its exit code; a wrong setting is one line on stderr and exit code 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "factory_site.settings")
    try:
        config = load_config()
        config.prepare_home()
    except SettingsError as error:
        sys.stderr.write(f"factory: {error}\n")
        return 2
    for sentence in config.settings_invalid:
        sys.stderr.write(f"factory: warning: {sentence}\n")
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *argv])
    return 0
