"""What a worker holds stands in one file that stays: overwritten, never torn, and empty when nothing is in hand."""

import json

from workers.host.disk.boots import CURRENT, Boot, Holding, forget_holding, read_holding
from workers.host.disk.files import PAGE, overwrite_json, read_json

HELD = Holding(
    run_id="run_1", attempt=2, fencing_token="7", worker_id="lab.x", phase="running", workspace="/w", adapter="command"
)


def test_a_shorter_document_leaves_nothing_of_a_longer_one_and_the_file_stays(tmp_path):
    path = tmp_path / "held.json"
    overwrite_json(path, {"a": "x" * 500})
    inode = path.stat().st_ino
    overwrite_json(path, {"b": 1})
    assert json.loads(path.read_text()) == {"b": 1}
    assert path.stat().st_ino == inode
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_document_beyond_one_page_replaces_the_file_in_one_step(tmp_path):
    path = tmp_path / "held.json"
    overwrite_json(path, {})
    inode = path.stat().st_ino
    overwrite_json(path, {"a": "x" * PAGE})
    assert read_json(path) == {"a": "x" * PAGE}
    assert path.stat().st_ino != inode


def test_nothing_is_held_after_a_release_and_the_boot_goes(tmp_path):
    boot = Boot(tmp_path, "lab.x")
    for durable in (False, True, False):
        boot.hold(HELD, durable=durable)
        assert read_holding(boot.folder) == HELD
    boot.close()
    assert boot.folder.exists()  # somebody has to end what it holds
    boot.release()
    assert read_holding(boot.folder) is None
    boot.close()
    assert not boot.folder.exists()


def test_what_a_dead_boot_held_is_forgotten_once_it_is_dealt_with(tmp_path):
    boot = Boot(tmp_path, "lab.x")
    boot.hold(HELD, durable=False)
    forget_holding(boot.folder)
    forget_holding(boot.folder)
    assert not (boot.folder / CURRENT).exists()


def test_the_record_of_an_earlier_release_is_read(tmp_path):
    boot = Boot(tmp_path, "lab.x")
    boot.hold(HELD, durable=False)
    document = read_json(boot.folder / CURRENT) or {}
    del document["adapter"]
    (boot.folder / CURRENT).write_text(json.dumps(document))
    assert getattr(read_holding(boot.folder), "adapter", None) == "unknown"
