"""Hand a command line to Django, once the settings are known to be right."""

from __future__ import annotations

import os
import sys

from factory_site.config import SettingsError, load_config


def run(argv: list[str]) -> int:
    """Run one management command and return its exit code; a wrong setting is one line on stderr and exit code 2."""
    if argv[:1] == ["demo"]:
        # It has a data folder of its own; the caller's is neither read nor made.
        from factory_site.demo.__main__ import main as demo

        return demo(argv[1:])
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
