"""The parent of `serve`: one a data folder, with a web and a tasks child, and with a worker or a pool if asked."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connections

from factory_site.serving.children import Child, Family, python
from factory_site.serving.notify import notify_address, notify_ready
from factory_site.serving.prepare import prepare
from runs.contract.errors import Invalid
from workers.handover import find_package
from workers.host.options import check_program
from workers.host.process.only_one import hold_lock

if TYPE_CHECKING:
    from collections.abc import Callable

DRAIN_SECONDS = 60.0  # what a run gets after the first signal: the workers' own default
WORKER_LEAVES = DRAIN_SECONDS + 10  # seconds for a worker to leave
POOL_LEAVES = 2 * DRAIN_SECONDS + 30  # seconds for a pool: both rungs of its end, and its way out
BACKLOG = 512  # connections that may wait while the web child restarts


@dataclass(frozen=True, slots=True)
class Staff:
    """Who works on this machine beside what serves: nobody, one worker, or a pool with bounds.

    ``command`` is what they run for work left to them; blank bounds are those of the policy.
    """

    worker: bool = False
    pool: bool = False
    bounds: str = ""
    command: str = ""


def serve(*, host: str, port: int, say: Callable[[str], None], staff: Staff) -> int:
    """Serve until a signal; return the exit code.

    Raises ``Refused`` when another one runs on this data folder, ``Invalid`` when the port is taken, a file is wrong,
    or the program of the staff's command is not there.
    """
    check_program(staff.command or None)
    find_package()
    told_to = notify_address()
    home = settings.FACTORY.home
    lock = hold_lock(home / "run", "serve")
    listening = _listen(host, port)
    url = local_url(host, listening.getsockname()[1])
    prepare(say, url)
    connections.close_all()  # this process looks after children from here on, and after no rows
    family = Family([*_children(listening), *_staff(staff, url)], say)

    def ready() -> None:
        say(f"Factory serves {url} from {home} (stop with Ctrl-C)")
        notify_ready(told_to)

    try:
        return family.run(on_ready=ready)
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


def _staff(staff: Staff, url: str) -> list[Child]:
    """The worker or the pool of this machine: it drains when told, or when this process is gone."""
    home = settings.FACTORY.home
    flags = ["--url", url, "--credential-file", str(home / "secrets" / "worker-local.json")]
    flags += ["--command", staff.command] if staff.command else []
    found = []
    if staff.worker:
        found.append(_leashed("worker", "workers.host", flags, WORKER_LEAVES))
    if staff.pool:
        bounds = ["--workers", staff.bounds] if staff.bounds else []
        found.append(_leashed("pool", "workers.host.pool", [*bounds, *flags], POOL_LEAVES))
    return found


def _leashed(name: str, module: str, flags: list[str], grace: float) -> Child:
    argv = python("-m", "factory_site.serving.leash", "{lifeline}", str(grace), *python("-m", module, *flags))
    environment = {**os.environ, "FACTORY_HOME": str(settings.FACTORY.home)}
    return Child(name, argv, environment=environment, grace=grace + 5)
