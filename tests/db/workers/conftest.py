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
