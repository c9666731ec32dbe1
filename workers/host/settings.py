"""What a worker reads from the environment of its machine; nothing else of the host looks there.

``settings.env`` in the data folder holds the same names; the environment wins.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SETTINGS_FILE = "settings.env"
DEFAULT_SERVER = "https://github.com"
DEFAULT_PORT = "8090"
SECRETS_FILE = "secrets.env"


@dataclass(frozen=True, slots=True)
class Settings:
    """Typed settings; ``environment`` is the merged mapping that tokens and allow-lists are read from."""

    home: Path
    base_url: str
    forge_server_url: str
    pool: str | None
    slot: int | None
    run_dir: Path | None
    environment: Mapping[str, str] = field(repr=False)


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process; a missing data folder is not an error of its own."""
    given = dict(os.environ if environment is None else environment)
    home = Path(given.get("FACTORY_HOME") or "var").absolute()
    merged = {**read_env_file(home / SETTINGS_FILE), **given}
    slot = merged.get("FACTORY_POOL_SLOT", "")
    run_dir = merged.get("FACTORY_RUN_DIR")
    return Settings(
        home=home,
        base_url=merged.get("FACTORY_BASE_URL") or f"http://127.0.0.1:{merged.get('PORT') or DEFAULT_PORT}",
        forge_server_url=(merged.get("GITHUB_SERVER_URL") or DEFAULT_SERVER).rstrip("/"),
        pool=merged.get("FACTORY_POOL") or None,
        slot=int(slot) if slot.isdigit() else None,
        run_dir=Path(run_dir) if run_dir else None,
        environment=merged,
    )


def read_env_file(path: Path) -> dict[str, str]:
    """``NAME=value`` lines; blank lines and lines that begin with ``#`` are skipped. Empty if absent."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}
