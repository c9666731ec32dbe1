"""Several workers share one home: what one removes while another looks is no fault."""

import json
import threading
from typing import Any

import pytest

from runs.contract.canonical import bytes_hash
from workers.host.attempt.record import KEPT, clean_up, keep_workspace, kept_summary, kept_workspaces
from workers.host.client import Answer
from workers.host.disk import documents as cache
from workers.host.disk.boots import Boot, adopt_dead, boot_of
from workers.host.disk.files import remove_tree
from workers.host.process.identity import ProcessId


def kept(home, name):
    root = home / "workspaces" / name
    root.mkdir(parents=True)
    (root / "file").write_bytes(b"12345")
    keep_workspace(root)
    return root


def test_a_boot_that_leaves_while_another_one_starts_is_left_alone(tmp_path):
    mine = Boot(tmp_path, "lab.20260830T121502Z.000001")
    (tmp_path / "boots" / "lab.20260830T121502Z.000002").symlink_to(tmp_path / "gone")
    (tmp_path / "boots" / "lab.20260830T121502Z.000003").mkdir()
    assert adopt_dead(tmp_path, mine) == []


def test_the_boot_of_a_dead_process_is_found_until_another_one_has_adopted_it(tmp_path):
    dead = ProcessId(4711, "another boot:1")
    folder = tmp_path / "boots" / "lab.20260830T121502Z.000002"
    folder.mkdir(parents=True)
    (folder / "boot.json").write_text(json.dumps({"workerId": folder.name, "pid": dead.pid, "start": dead.start}))
    assert boot_of(tmp_path, dead) == folder
    assert boot_of(tmp_path, ProcessId(4711, "this boot:1")) is None
    adopt_dead(tmp_path, Boot(tmp_path, "lab.20260830T121502Z.000001"))
    assert boot_of(tmp_path, dead) is None


def test_kept_workspaces_are_summed_up_without_those_that_vanish(tmp_path):
    kept(tmp_path, "run_a-a1")
    second = kept(tmp_path, "run_b-a1")
    (tmp_path / "workspaces" / "run_c-a1").mkdir()
    (tmp_path / "workspaces" / "run_c-a1" / KEPT).symlink_to(tmp_path / "gone")
    found = kept_summary(tmp_path)
    assert found["count"] == 2
    assert found["bytes"] > 10
    assert found["oldestAt"].endswith("Z")
    clean_up(tmp_path)
    remove_tree(second)
    remove_tree(second)
    assert [root.name for root in kept_workspaces(tmp_path)] == ["run_a-a1"]
    assert kept_summary(tmp_path / "nothing") == {"count": 0, "bytes": 0, "oldestAt": None}


class Library:
    """Answers every document by its number."""

    def __init__(self, contents):
        self.contents = contents

    def get(self, path):
        return Answer(document={}, content=self.contents[path.rpartition("/")[2]], received=0.0)


def test_caches_that_shrink_at_once_lose_no_document(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "CACHE_BYTES", 4_000)
    contents = {bytes_hash(bytes([n]) * 1000).removeprefix("sha256:"): bytes([n]) * 1000 for n in range(40)}
    library: Any = Library(contents)
    faults = []

    def fetch_all():
        try:
            mine = cache.Documents(tmp_path, library, lambda _: False)
            for name, content in contents.items():
                assert mine.document(f"sha256:{name}") == content
        except Exception as error:  # noqa: BLE001 -- shown by the assertion below
            faults.append(error)

    threads = [threading.Thread(target=fetch_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert sum(path.stat().st_size for path in (tmp_path / "documents").iterdir()) <= 4_000


@pytest.mark.parametrize("times", [1, 3])
def test_a_folder_is_removed_by_whoever_is_first(tmp_path, times):
    root = kept(tmp_path, "run_a-a1")
    for _ in range(times):
        remove_tree(root)
    assert not root.exists()


def test_a_tree_with_closed_folders_is_removed_and_what_its_links_lead_to_stays(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    tree = tmp_path / "tree"
    (tree / "closed").mkdir(parents=True)
    (tree / "closed" / "file").touch()
    (tree / "closed" / "link").symlink_to(kept)
    (tree / "closed").chmod(0o500)
    remove_tree(tree)
    assert list(tmp_path.iterdir()) == [kept]
    assert (kept / "file").exists()
