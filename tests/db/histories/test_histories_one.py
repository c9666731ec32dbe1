"""Random histories of pull requests from their submission to their end: the first half of the batches."""

import pytest

from tests.db.histories import playing


@pytest.mark.parametrize("first", playing.batches(0))
def test_nothing_breaks_in_any_history(db, tmp_path, settings, first):
    """CV-H1, CV-H4, CV-H5."""
    del db
    playing.batch_play(first, tmp_path, settings)
