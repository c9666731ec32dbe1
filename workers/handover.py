"""From a command of the site to a program that runs without Django."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from runs.contract.stamp import PACKAGE_ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence


def find_package() -> None:
    """Let children of this process find the package from whatever folder the command was called in."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))


def become(module: str, argv: Sequence[str]) -> NoReturn:
    """Replace this process by ``python -m <module>``; no secret is in its argv."""
    find_package()
    os.execv(sys.executable, [sys.executable, "-m", module, *argv])  # noqa: S606 -- an argv list, and no shell
