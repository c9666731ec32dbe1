"""Run the whole suite: everything on SQLite, then what has a database behind it once more on PostgreSQL.

With arguments of pytest's own there is a single pass with exactly these arguments, on the caller's DATABASE_URL.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from tests import postgres, rings

REQUIRE_RINGS = "--require-rings"
# Each process has a data folder and a test database of its own. One more than the two cores of a small machine, because
# whoever starts a system waits for it most of the time. The tests of a file stay together, because they share what they
# have started, and the files keep the order of `conftest.py`, so that no long one begins last.
TOGETHER = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
ON_POSTGRES = ["-m", "db or race or process"]
# They start processes with no database behind them, or with one that they choose themselves.
SAME_ON_EITHER = ["process/host", "process/simulator", "process/test_commands.py", "process/test_demo.py"]
# Minutes long, and about processes more than about rows; `python -m tests.chaos` runs it on PostgreSQL.
ONCE = ["process/test_chaos.py"]
NOTHING_COLLECTED = 5  # pytest's exit code
USAGE_ERROR = 4  # pytest's exit code
TESTS_FAILED = 1  # pytest's exit code
ALONE = ["-x", "--last-failed", "--last-failed-no-failures", "none"]


def main(arguments: list[str]) -> int:
    """Return the exit code of the first pass that failed, else 0."""
    # A stop from outside runs the clean-up below, so that no database server outlives the tests.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if [argument for argument in arguments if argument != REQUIRE_RINGS]:
        return _pytest(arguments, os.environ)
    missing = rings.missing()
    if missing and REQUIRE_RINGS in arguments:
        sys.stderr.write("ERROR: " + "; ".join(missing) + "\n")
        return USAGE_ERROR
    return _whole_pass(arguments, _on_sqlite(os.environ)) or _on_postgres(arguments)


def _whole_pass(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run everything side by side, then what failed once more, alone, and say so; the exit code of the last run.

    Real processes share two cores here: a time-out beside others says little. What fails alone too fails the pass.
    """
    code = _pytest([*arguments, *TOGETHER], environment)
    if code != TESTS_FAILED:
        return code
    sys.stdout.write("\nTrying what failed once more, alone:\n")
    sys.stdout.flush()
    code = _pytest([*arguments, *ALONE], environment)
    return TESTS_FAILED if code == NOTHING_COLLECTED else code


def _on_sqlite(environment: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables, with a PostgreSQL of theirs put aside for the second pass."""
    kept = {name: value for name, value in environment.items() if name != "DATABASE_URL"}
    url = rings.postgres_url()
    return kept | ({rings.ASIDE: url} if url else {})


def _on_postgres(arguments: list[str]) -> int:
    binaries = rings.postgres_binaries()
    with contextlib.ExitStack() as stack:
        url = rings.postgres_url()
        if url is None and binaries is not None:
            url = stack.enter_context(postgres.throwaway_cluster(binaries)).url
        if url is None:
            return 0  # the first pass has said so
        left_out = [f"--ignore=tests/{path}" for path in [*SAME_ON_EITHER, *ONCE]]
        code = _whole_pass([*arguments, *ON_POSTGRES, *left_out], {**os.environ, "DATABASE_URL": url})
    return 0 if code == NOTHING_COLLECTED and REQUIRE_RINGS not in arguments else code


def _pytest(arguments: list[str], environment: Mapping[str, str]) -> int:
    process = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=dict(environment))
    try:
        return process.wait()
    except KeyboardInterrupt:
        return process.wait()  # the terminal interrupted pytest too, and it is about to print its summary
    except SystemExit:
        process.terminate()
        process.wait()
        raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
