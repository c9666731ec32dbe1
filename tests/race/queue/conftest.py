import pytest

from tests import queue_driver


@pytest.fixture(autouse=True)
def _definitions(transactional_db: None) -> None:  # noqa: ARG001 - rows must be seen by other connections
    queue_driver.load_definitions()
