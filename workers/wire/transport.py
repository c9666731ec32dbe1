"""Whether a request came over a channel that a token may travel on."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
from typing import TYPE_CHECKING

from runs.contract.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest


def peer_address(request: HttpRequest) -> str:
    """The address at the other end of the connection; never one that a header claims."""
    return str(request.META.get("REMOTE_ADDR", ""))


def tls_check(request: HttpRequest, *, trusted_proxies: Iterable[str]) -> None:
    """Let HTTPS and plain HTTP from loopback pass; ``Refused`` (``tls_required``) otherwise.

    A trusted proxy says by ``X-Forwarded-Proto`` how the request reached it; from any other peer the header is nothing.
    """
    peer = _address(peer_address(request))
    stated = request.headers.get("X-Forwarded-Proto", "").strip().lower()
    if stated and peer is not None and _within(peer, trusted_proxies):
        secure = stated == "https"
    else:
        secure = request.META.get("wsgi.url_scheme") == "https" or (peer is not None and peer.is_loopback)
    if not secure:
        raise Refused("tls_required", "this address takes worker requests over HTTPS only")


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@functools.lru_cache(maxsize=1024)
def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _within(peer: Address, networks: Iterable[str]) -> bool:
    for network in networks:
        with contextlib.suppress(ValueError):  # what is no address is nobody's
            if peer in ipaddress.ip_network(network, strict=False):
                return True
    return False
