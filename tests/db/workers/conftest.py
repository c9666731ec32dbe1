import pytest

from tests.db.workers.wire import Worker, worker_on
from workers.wire import limits


@pytest.fixture(autouse=True)
def fresh_limits():
    for limit in (limits.request_rate, limits.bad_tokens):
        limit.clear()


@pytest.fixture
def worker(db) -> Worker:  # noqa: ARG001 -- a fixture gets the database by naming it
    return worker_on("lab")


@pytest.fixture(autouse=True)
def artifact_store(tmp_path, settings):
    """An empty store of artifacts, and where it lies."""
    settings.STORAGES = {
        **settings.STORAGES,
        "artifacts": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path / "artifacts"},
        },
    }
    return tmp_path / "artifacts"
