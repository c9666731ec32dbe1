"""What a worker takes for an agent's result when something else lies in its place."""

import os

import pytest

from workers.host.adapters.contract import Outcome
from workers.host.attempt.verification import read_given


def place_folder(path):
    path.mkdir()


def place_link(path):
    (path.parent / "elsewhere.json").write_text('{"status": "converged"}')
    path.symlink_to(path.parent / "elsewhere.json")


@pytest.mark.parametrize("put", [place_folder, place_link, os.mkfifo], ids=["folder", "link", "fifo"])
def test_anything_but_a_file_in_the_place_of_the_result_is_no_result(tmp_path, put):
    """It is read as if nothing were there, so it is the agent's failure and never the worker's."""
    put(tmp_path / "result.json")
    assert read_given(tmp_path / "result.json", Outcome(exit_code=0)) is None
