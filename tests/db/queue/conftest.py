import pytest

from tests import queue_driver


@pytest.fixture(autouse=True)
def _definitions(db: None) -> None:  # noqa: ARG001 - asks for the database
    queue_driver.load_definitions()
