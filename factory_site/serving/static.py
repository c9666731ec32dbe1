"""The files that browsers are served: hashed, compressed and collected once for each state of their sources."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

STAMP = "collected.json"  # beside the folder's files; written last, so that an interrupted collection is done again


def static_collect() -> bool:
    """Collect the static files unless the folder holds those of the present sources; return whether it did."""
    root = Path(settings.STATIC_ROOT)
    stamp = {"sources": _sources()}
    kept = root / STAMP
    if kept.is_file() and kept.read_text(encoding="utf-8") == json.dumps(stamp):
        return False
    kept.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    kept.write_text(json.dumps(stamp), encoding="utf-8")
    return True


def _sources() -> str:
    """A hash over path and content of every source file; reading them costs a tenth of collecting them."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: found[0]):
            digest.update(path.encode() + b"\0")
            digest.update(Path(storage.path(path)).read_bytes() + b"\0")
    return digest.hexdigest()
