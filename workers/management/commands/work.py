"""``manage.py work``: checks the flags of a worker and becomes ``python -m workers.host``."""

from workers.host.options import add_flags, check
from workers.management.leaving import LeavingCommand


class Command(LeavingCommand):
    """One worker, HTTP only, no database."""

    help = "Run one worker: it claims runs over HTTP and executes them one at a time."
    module = "workers.host"
    flags = staticmethod(add_flags)
    checked = staticmethod(check)
