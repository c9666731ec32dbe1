"""Random histories of pull requests from their submission to their end: the second half of the batches."""

import pytest

from tests.db.histories import playing


@pytest.mark.parametrize("first", playing.batches(1))
def test_nothing_breaks_in_any_history(db, tmp_path, settings, first):
    """CV-H8, CV-H11, CV-H12."""
    del db
    playing.batch_play(first, tmp_path, settings)
