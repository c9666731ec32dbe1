"""The tasks child: huey's consumer, which starts the passes.

`python -m factory_site.serving.tasks LIFELINE_FD`
"""

from __future__ import annotations

import os
import sys

from factory_site.serving.lifeline import watch_lifeline

THREADS = 8  # a pass takes two at most (its own start and a nudged one), so that no slow forge holds all of them
POLL_SECONDS = 0.1  # of the queue file: what a nudge costs at most
SLOWEST_POLL_SECONDS = 0.3


def main() -> None:
    """Consume until the parent is gone or says stop; a pass under way is let finish."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "factory_site.settings")
    import django

    django.setup()
    from factory_site.beat import begin_chains, huey, nudge_through_huey

    nudge_through_huey()
    watch_lifeline(int(sys.argv[1]))
    begin_chains()
    consumer = huey.create_consumer(
        workers=THREADS,
        initial_delay=POLL_SECONDS,
        backoff=1.3,
        max_delay=SLOWEST_POLL_SECONDS,
        scheduler_interval=1,
        periodic=True,
        check_worker_health=True,
        graceful_signal="TERM",  # a pass under way ends by itself
    )
    consumer.run()


if __name__ == "__main__":
    main()
