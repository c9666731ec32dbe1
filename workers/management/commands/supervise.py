"""``manage.py supervise``: checks the flags of a supervisor and becomes ``python -m workers.host.pool``."""

from workers.host.pool.options import add_flags, check_pool
from workers.management.leaving import LeavingCommand


class Command(LeavingCommand):
    """The pool of this machine: it starts workers when work waits, and lets them leave when none does."""

    help = "Run the pool of this machine: as many workers as its bounds and the work demand."
    module = "workers.host.pool"
    flags = staticmethod(add_flags)
    checked = staticmethod(check_pool)
