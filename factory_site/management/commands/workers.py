"""`manage.py workers`: who executes runs, and what an operator does with them."""

from __future__ import annotations

from factory_site.shell.command_verbs import Group
from factory_site.verbs.workers import listing, release, show


class Command(Group):
    """List and show workers; take a run back from one."""

    help = "Workers: list, show, release a run from one."
    verbs = {"list": listing, "show": show, "release": release}
