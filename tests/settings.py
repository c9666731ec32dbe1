"""The settings of a test run: the product's own, on a throw-away data folder and none of the caller's variables."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_HOME = Path(tempfile.mkdtemp(prefix="factory-test-"))
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

for _name in list(os.environ):
    if _name.startswith(("FACTORY_", "GITHUB_")) or _name in {"GH_TOKEN", "PORT"}:
        del os.environ[_name]
os.environ["FACTORY_HOME"] = str(_HOME)

from factory_site.settings import *  # noqa: E402, F403 - the environment is cleaned before it is read
from factory_site.settings import DATABASES, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"] == "runs.sqlite":
    # A file, as in production: threads and processes of a test then really compete for its lock.
    DATABASES["default"]["TEST"] = {"NAME": str(_HOME / "test.sqlite3")}

# The manifest exists only after collectstatic, which a test run does not need.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # speed; nothing here is worth protecting
