"""Telling systemd that this service is ready: one datagram to the socket that it names."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

ADDRESS = "NOTIFY_SOCKET"


def notify_address() -> str:
    """Where systemd wants to be told, blank elsewhere; taken out of the environment, so that no child tells it."""
    return os.environ.pop(ADDRESS, "")


def notify_ready(address: str) -> None:
    """Send ``READY=1`` there; nothing happens for a blank address."""
    if not address:
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(b"READY=1", name)
