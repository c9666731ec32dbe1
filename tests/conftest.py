"""What every ring shares: which rings are left out, and the marker that each folder implies."""

from pathlib import Path

import pytest

from tests import rings

RINGS = ("unit", "db", "race", "process", "browser")
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-rings", action="store_true", help="fail at once when a ring of tests would have to be left out"
    )


def pytest_configure(config: pytest.Config) -> None:
    missing = rings.missing()
    if missing and config.getoption("--require-rings"):
        raise pytest.UsageError("; ".join(missing))


def pytest_report_header() -> list[str]:
    from django.db import connection

    return [f"database: {connection.vendor}", *(f"ring {sentence}" for sentence in rings.missing())]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the ring whose folder it lies in, so that none can be left out by a forgotten marker."""
    for item in items:
        ring = item.path.relative_to(HERE).parts[0]
        if ring not in RINGS:
            raise pytest.UsageError(f"{item.nodeid}: a test belongs in one of the folders {', '.join(RINGS)}")
        item.add_marker(ring)
        if ring == "browser" and rings.chromium() is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium is on PATH"))
