from pathlib import Path

import pytest

from factory_site.serving.static import static_collect


@pytest.fixture
def sources(settings, tmp_path):
    """One source folder, a target, and the storage that hashes and compresses as in production."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "page.css").write_text("a { color: red }\n")
    settings.STATIC_ROOT = str(tmp_path / "root")
    settings.STATICFILES_DIRS = [str(tmp_path / "sources")]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    (tmp_path / "root").mkdir()
    return tmp_path / "sources"


def collected(settings) -> str:
    return (Path(settings.STATIC_ROOT) / "page.css").read_text()


def test_files_are_collected_once_for_each_state_of_their_sources(settings, sources):
    assert static_collect() is True
    assert static_collect() is False
    (sources / "page.css").write_text("a { color: blue }\n")
    assert static_collect() is True
    assert "blue" in collected(settings)


def test_a_collection_that_was_broken_off_is_done_again(settings, sources):
    static_collect()
    assert sources.is_dir()
    (Path(settings.STATIC_ROOT) / "collected.json").unlink()
    assert static_collect() is True
