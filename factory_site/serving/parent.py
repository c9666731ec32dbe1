"""The parent of `serve`: one a data folder, with a web child and a tasks child, and a worker where one is asked for."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connections

from factory_site.serving.children import Child, Family, python
from factory_site.serving.prepare import prepare
from runs.contract.errors import Invalid
from workers.host.options import check_program
from workers.host.process.only_one import hold_lock

if TYPE_CHECKING:
    from collections.abc import Callable

WORKER_LEAVES = 70.0  # seconds for a worker to drain: its own limit is 60
BACKLOG = 512  # connections that may wait while the web child restarts


def serve(*, host: str, port: int, workers: int, say: Callable[[str], None], command: str = "") -> int:
    """Serve until a signal; return the exit code. ``command`` is what the workers run for work left to them.

    Raises ``Refused`` when another one runs on this data folder, ``Invalid`` when the port is taken, a file is wrong,
    or the program of ``command`` is not there.
    """
    check_program(command or None)
    home = settings.FACTORY.home
    lock = hold_lock(home / "run", "serve")
    listening = _listen(host, port)
    url = local_url(host, listening.getsockname()[1])
    prepare(say, url)
    connections.close_all()  # this process looks after children from here on, and after no rows
    flags = ["--command", command] if command else []
    staff = [worker_child(number + 1, url, *flags) for number in range(workers)]
    family = Family([*_children(listening), *staff], say)
    try:
        return family.run(on_ready=lambda: say(f"Factory serves {url} from {home} (stop with Ctrl-C)"))
    finally:
        listening.close()
        os.close(lock)


def local_url(host: str, port: int) -> str:
    """Where this machine reaches what listens on ``host``; every address of it means loopback here."""
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- compared, not bound
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    """Open the listening socket, which outlives restarts of the web child."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = error.strerror if isinstance(error, OSError) else "it should be 0 to 65535"
        raise Invalid(
            "port_taken",
            f"port {port} of {host} cannot be used: {reason}. Choose another one with --port or PORT.",
        ) from None
    listening.listen(BACKLOG)
    listening.set_inheritable(True)
    return listening


def _children(listening: socket.socket) -> list[Child]:
    descriptor = listening.fileno()
    web = python("-m", "factory_site.serving.web", "{lifeline}", str(descriptor))
    return [
        Child("web", web, pass_fds=(descriptor,)),
        Child("tasks", python("-m", "factory_site.serving.tasks", "{lifeline}")),
    ]


def worker_child(number: int, url: str, *flags: str) -> Child:
    """A worker of this machine as a child: it drains when told, or when this process is gone, and is started again."""
    home = settings.FACTORY.home
    argv = python("-m", "workers.host", "--url", url)
    argv += ["--credential-file", str(home / "secrets" / "worker-local.json")]
    argv += ["--worker-home", str(home / "worker" / str(number)), *flags]
    leashed = python("-m", "factory_site.serving.leash", "{lifeline}", str(WORKER_LEAVES), *argv)
    return Child(f"worker {number}", leashed, grace=WORKER_LEAVES + 5)
