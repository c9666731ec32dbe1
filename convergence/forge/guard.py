"""No call to the forge inside a database transaction: it would hold locks for as long as GitHub takes."""

from django.conf import settings
from django.db import connections


def forge_guard() -> None:
    """Raise ``RuntimeError`` if any connection of this thread is inside a transaction that the product opened.

    The wrapper that Django's ``TestCase`` puts around a test does not count: only blocks opened on top of it do.
    """
    if not settings.configured:
        return
    for connection in connections.all(initialized_only=True):
        blocks = connection.atomic_blocks
        if connection.in_atomic_block and any(not getattr(block, "_from_testcase", False) for block in blocks):
            raise RuntimeError(
                f"a call to the forge inside a transaction on {connection.alias!r}: commit first, then call"
            )
