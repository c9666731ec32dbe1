"""The web child: gunicorn with threads, on a socket that the parent opened.

`python -m factory_site.serving.web LIFELINE_FD SOCKET_FD`
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication

from factory_site.serving.lifeline import watch_lifeline

if TYPE_CHECKING:
    from types import FrameType

SPARE_THREADS = 16  # beyond those that may be held by waiting requests, so that waiting never starves the others


class Web(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """One worker process with threads, configured here and nowhere else."""

    def __init__(self, options: dict[str, Any]) -> None:
        """``options`` are gunicorn's settings."""
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Take the options, and nothing from files or the environment."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Load Django in the worker process."""
        from factory_site.wsgi import application

        return application


def options(lifeline: int, socket: int, slots: int) -> dict[str, Any]:
    """Gunicorn's settings for one data folder."""

    def post_fork(server: object, worker: object) -> None:
        del server, worker
        watch_lifeline(lifeline)

    def post_worker_init(worker: Any) -> None:
        """End held requests with the signal: gunicorn itself waits for them, and then breaks them off."""
        from workers.wire.waiting import stop_all

        def stop(number: int, frame: FrameType | None) -> None:
            stop_all()
            worker.handle_exit(number, frame)

        signal.signal(signal.SIGTERM, stop)
        signal.siginterrupt(signal.SIGTERM, False)  # noqa: FBT003 -- as gunicorn set it: system calls go on

    return {
        "bind": [f"fd://{socket}"],
        "worker_class": "factory_site.serving.threads.StayingThreads",
        "workers": 1,
        "threads": slots + SPARE_THREADS,
        "timeout": 120,
        "graceful_timeout": 5,
        "keepalive": 75,
        "control_socket_disable": True,
        "loglevel": "warning",
        "proc_name": "factory-web",
        "post_fork": post_fork,
        "post_worker_init": post_worker_init,
    }


def main() -> None:
    """Serve until the parent is gone or says stop."""
    lifeline, socket = int(sys.argv[1]), int(sys.argv[2])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "factory_site.settings")
    import django

    django.setup()
    from factory_site.beat import nudge_through_huey
    from runs.policy import policy

    nudge_through_huey()
    watch_lifeline(lifeline)
    sys.argv = sys.argv[:1]
    Web(options(lifeline, socket, policy().web.wait_slots)).run()


if __name__ == "__main__":
    main()
