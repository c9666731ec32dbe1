"""The stage of the db ring, with rows that every thread sees."""

import pytest

from tests.db.merging.conftest import stage_on, world

__all__ = ["stage", "world"]


@pytest.fixture
def stage(transactional_db, world, settings, tmp_path):
    del transactional_db
    yield from stage_on(world, settings, tmp_path)
