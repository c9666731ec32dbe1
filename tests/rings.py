"""Which rings of tests this machine can run, and how to get the others."""

import os
import shutil
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
ASIDE = "TESTS_POSTGRES_URL"  # where the pass on SQLite finds that the caller's DATABASE_URL waits for the next pass
BINARIES = Path("/usr/lib/postgresql")  # Debian keeps the server's programs out of PATH


def chromium() -> str | None:
    """Path of a Chromium that the browser ring may start."""
    return next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)


def postgres_url() -> str | None:
    """Address of a PostgreSQL that the caller provides."""
    url = os.environ.get("DATABASE_URL", "")
    return url if url.startswith(("postgres://", "postgresql://")) else None


def postgres_binaries() -> Path | None:
    """Folder with `postgres` and `initdb`, of the newest version that is installed."""
    found = [path.parent for path in BINARIES.glob("*/bin/postgres") if (path.parent / "initdb").exists()]
    return max(found, key=lambda path: int(path.parent.name.partition(".")[0]), default=None)


def missing() -> list[str]:
    """One sentence for each ring that must be left out."""
    sentences = []
    if postgres_url() is None and ASIDE not in os.environ and postgres_binaries() is None:
        sentences.append(
            "PostgreSQL: left out, neither DATABASE_URL nor a server is here; "
            "apt-get install -y --no-install-recommends postgresql"
        )
    if chromium() is None:
        sentences.append(
            "browser: left out, no Chromium is on PATH; apt-get install -y --no-install-recommends chromium"
        )
    if shutil.which("datefudge") is None:
        sentences.append(
            "process: left out where clocks differ, no datefudge is on PATH; "
            "apt-get install -y --no-install-recommends datefudge"
        )
    if shutil.which("redis-server") is None:
        sentences.append(
            "process: left out where hosts share wake-ups, no redis-server is on PATH; "
            "apt-get install -y --no-install-recommends redis-server"
        )
    return sentences
