"""Run the whole suite: everything on SQLite, then every ring that has a database once more on PostgreSQL.

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
ON_POSTGRES = "db or race or process"
NOTHING_COLLECTED = 5  # pytest's exit code


def main(arguments: list[str]) -> int:
    """Return the exit code of the first pass that failed, else 0."""
    # A stop from outside runs the clean-up below, so that no database server outlives the tests.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if [argument for argument in arguments if argument != REQUIRE_RINGS]:
        return _pytest(arguments, os.environ)
    code = _pytest(arguments, {name: value for name, value in os.environ.items() if name != "DATABASE_URL"})
    if code != 0:
        return code
    return _on_postgres(arguments)


def _on_postgres(arguments: list[str]) -> int:
    binaries = rings.postgres_binaries()
    with contextlib.ExitStack() as stack:
        url = rings.postgres_url()
        if url is None and binaries is not None:
            url = stack.enter_context(postgres.throwaway_cluster(binaries)).url
        if url is None:
            return 0  # the first pass has said so, and refused where every ring is required
        code = _pytest([*arguments, "-m", ON_POSTGRES], {**os.environ, "DATABASE_URL": url})
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
