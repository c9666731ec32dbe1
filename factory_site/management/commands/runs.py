"""`manage.py runs`: pieces of agent work, and what an operator does with them."""

from __future__ import annotations

from factory_site.shell.command_verbs import Group
from factory_site.verbs.runs import (
    cancel,
    extend,
    listing,
    pause,
    raise_budget,
    receipt,
    requeue_effect,
    resume,
    retry,
    show,
    start,
    trace,
    why,
)


class Command(Group):
    """List and show runs, explain one, and act on one."""

    help = "Runs: list, show, explain; start, cancel, retry, extend."
    verbs = {
        "list": listing,
        "show": show,
        "trace": trace,
        "receipt": receipt,
        "why": why,
        "start": start,
        "cancel": cancel,
        "retry": retry,
        "extend": extend,
        "pause": pause,
        "resume": resume,
        "raise": raise_budget,
        "requeue-effect": requeue_effect,
    }
