"""Queue as many runs as the argument says, through the kernel's own service, in the database of the environment."""

import itertools
import os
import sys

import django

MOST = 1000  # runs of one call

if __name__ == "__main__":
    django.setup()
    from tests.db.workers import queue

    # What was queued by an earlier process keeps its numbers: the same number is the same run.
    queue._numbers = itertools.count(os.getpid() * MOST)
    for _ in range(int(sys.argv[1])):
        queue.queued_run()
