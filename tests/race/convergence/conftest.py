"""The stage of the db ring, with rows that every thread sees."""

import pytest

from tests.db.convergence.conftest import stage_on


@pytest.fixture
def stage(transactional_db, tmp_path, settings):
    del transactional_db
    yield from stage_on(settings, tmp_path)
