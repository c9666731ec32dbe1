"""Which workers are too old to be leased a run; their running attempts may finish."""

from __future__ import annotations

import re

from runs.contract.errors import Invalid, Refused
from workers.wire.policy import MIN_WORKER_VERSION

VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[.+-].*)?")


def version_check(stated: str) -> None:
    """Let this and newer versions pass; ``Refused`` (``worker_outdated``), ``Invalid`` (``malformed``) otherwise."""
    if _numbers(stated) < _numbers(MIN_WORKER_VERSION):
        raise Refused(
            "worker_outdated",
            f"version {stated} of the worker is older than {MIN_WORKER_VERSION}; bring its code up to date",
            details={"minWorkerVersion": MIN_WORKER_VERSION},
        )


def _numbers(version: str) -> tuple[int, ...]:
    match = VERSION.fullmatch(version)
    if match is None:
        raise Invalid(
            "malformed", f"{version!r} is no version such as 1.4.0+9f3c1a2b", details={"path": "$.workerVersion"}
        )
    return tuple(int(number) for number in match.groups())
