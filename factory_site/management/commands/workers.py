"""`manage.py workers`: who executes runs, and what an operator does with them."""

from __future__ import annotations

from factory_site.command_verbs import Group
from factory_site.verbs.workers import release


class Command(Group):
    """Take a run back from its worker."""

    help = "Workers: take a run back from one."
    verbs = {"release": release}
