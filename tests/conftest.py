"""What every ring shares: which rings are left out, and the marker that each folder implies."""

from pathlib import Path

import pytest

from tests import databases, rings, struck
from tests.db.histories import counts as histories

RINGS = ("process", "browser", "race", "db", "unit")  # in the order in which a whole run begins them: long ones first
LONGEST = "process/test_chaos.py"
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-rings", action="store_true", help="fail at once when a ring of tests would have to be left out"
    )


def pytest_configure(config: pytest.Config) -> None:
    missing = rings.missing()
    if missing and config.getoption("--require-rings"):
        raise pytest.UsageError("; ".join(missing))


def pytest_unconfigure() -> None:
    databases.drop_all()


def pytest_report_header() -> list[str]:
    from django.db import connection

    return [f"database: {connection.vendor}", *(f"ring {sentence}" for sentence in rings.missing())]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the ring whose folder it lies in, so that none can be left out by a forgotten marker.

    Those that take long begin first, so that nothing waits for them in the end.
    """
    for item in items:
        ring = item.path.relative_to(HERE).parts[0]
        if ring not in RINGS:
            raise pytest.UsageError(f"{item.nodeid}: a test belongs in one of the folders {', '.join(RINGS)}")
        item.add_marker(ring)
        if ring == "browser" and rings.chromium() is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium is on PATH"))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[bool, int]:
    path = item.path.relative_to(HERE)
    return path.as_posix() != LONGEST, RINGS.index(path.parts[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a helper process to its parent; fail a run in which something that has to happen never did."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["struck"] = dict(struck.counts())
        config.workeroutput["histories"] = dict(histories.counts())
    elif session.exitstatus == 0 and (histories.never() or (struck.is_whole_run(config) and struck.never())):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    told = getattr(node, "workeroutput", {})
    struck.note(told.get("struck", {}))
    histories.note(told.get("histories", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    _histories_told(terminalreporter)
    whole = struck.is_whole_run(config)
    if not whole and not any(struck.counts().values()):
        return
    terminalreporter.section("faults of the simulated GitHub that struck")
    for line in struck.lines():
        terminalreporter.write_line(line)
    if whole and struck.never():
        terminalreporter.write_line(f"never struck: {', '.join(struck.never())}", red=True)


def _histories_told(terminalreporter: pytest.TerminalReporter) -> None:
    if not histories.lines():
        return
    terminalreporter.section("edges taken and faults met in histories")
    for line in histories.lines():
        terminalreporter.write_line(line)
    if histories.never():
        terminalreporter.write_line(f"never met: {', '.join(histories.never())}", red=True)
