"""`manage.py workers`: who executes runs, and what an operator does with them."""

from __future__ import annotations

from factory_site.shell.command_verbs import Group
from factory_site.verbs.workers import drain, listing, release, show


class Command(Group):
    """List and show workers; let one leave, take a run back from one."""

    help = "Workers: list, show, let one leave, release a run from one."
    verbs = {"list": listing, "show": show, "drain": drain, "release": release}
