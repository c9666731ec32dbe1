"""From a command of the site to a program that runs without Django."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from runs.contract.stamp import PACKAGE_ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence


def become(module: str, argv: Sequence[str]) -> NoReturn:
    """Replace this process by ``python -m <module>``; no secret is in its argv."""
    # The package is found from whatever folder the command was called in, as manage.py itself is.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
    os.execv(sys.executable, [sys.executable, "-m", module, *argv])  # noqa: S606 -- an argv list, and no shell
