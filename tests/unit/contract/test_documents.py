"""Canonical JSON, ids, instants, stamps and receipts."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from factory_site import __version__
from runs.contract import canonical, ids, instants, receipt, stamp
from runs.contract.errors import Invalid

VECTORS = [
    ({}, "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (
        {"b": 1, "a": [True, None, "é"]},
        '{"a":[true,null,"é"],"b":1}',
        "17c8c6f7f948ee1c9b93b1bc35f6edc29cbaf3022bff7d076d1c4831dd8a44a2",
    ),
    ({"a": 1.0, "B": "\n"}, '{"B":"\\n","a":1.0}', "7963e262d847fb48105d935a6c86c799b2d03fe44cbab754c7b75e2102181f18"),
    ({"k": "😀", "j": -0.5}, '{"j":-0.5,"k":"😀"}', "f7adec58c086d38a40c395518a17b0225b15b094523302998c58632bb134a9d4"),
]


@pytest.mark.parametrize(("document", "text", "digest"), VECTORS)
def test_published_vectors_have_their_canonical_form_and_hash(document, text, digest):
    assert canonical.canonical_bytes(document) == text.encode()
    assert canonical.document_hash(document) == f"sha256:{digest}"
    assert canonical.parse_strict(text) == document


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":NaN}',
        "[Infinity]",
        "[-Infinity]",
        "[1e999]",
        '["\\ud800"]',
        b'"\xff"',
        "[" * 100_000,
        "{",
    ],
)
def test_documents_that_json_leaves_open_are_refused(text):
    with pytest.raises(Invalid) as refusal:
        canonical.parse_strict(text)
    assert refusal.value.code == "invalid_json"


@pytest.mark.parametrize(("opens", "closes"), [('{"a":', "}"), ("[", "]")])
def test_a_document_has_a_hundred_levels_and_not_one_more(opens, closes):
    deepest = canonical.parse_strict(opens * 100 + "1" + closes * 100)
    assert not canonical.nested_beyond(deepest, 100)
    assert canonical.nested_beyond(deepest, 99)
    with pytest.raises(Invalid, match="deeper than 100 levels"):
        canonical.parse_strict(opens * 101 + "1" + closes * 101)
    assert canonical.parse_strict("[" + ",".join(["[]"] * 300) + "]") == [[]] * 300


@pytest.mark.parametrize("document", [{"a": float("nan")}, [float("inf")], "\ud800", {1: 2}, {"a": object()}])
def test_documents_without_a_canonical_form_are_refused(document):
    with pytest.raises(Invalid) as refusal:
        canonical.canonical_bytes(document)
    assert refusal.value.code == "not_canonical"


def test_one_and_one_point_nought_are_different_documents():
    assert canonical.document_hash([1]) != canonical.document_hash([1.0])


def test_ids_have_their_forms_and_sort_by_time():
    early = ids.run_id(datetime(2026, 8, 30, tzinfo=UTC))
    late = ids.run_id(datetime(2026, 8, 31, tzinfo=UTC))
    assert early < late
    assert ids.RUN_PATTERN.fullmatch(early)
    worker = ids.worker_id("lab", datetime(2026, 8, 30, 14, 15, 2, tzinfo=timezone(timedelta(hours=2))))
    assert worker.startswith("lab.20260830T121502Z.")
    found = ids.WORKER_PATTERN.fullmatch(worker)
    assert found is not None
    assert found["node"] == "lab"
    assert not ids.WORKER_PATTERN.fullmatch("lab")
    assert ids.attempt_parts(ids.attempt_name(early, 12)) == (early, 12)
    assert ids.attempt_parts(f"{early}-a0") is None


def test_instants_are_utc_with_microseconds():
    at = datetime(2026, 8, 30, 14, 15, 2, 90, tzinfo=timezone(timedelta(hours=2)))
    assert instants.format_instant(at) == "2026-08-30T12:15:02.000090Z"
    assert instants.parse_instant("2026-08-30T12:15:02.000090Z") == at
    assert instants.parse_instant("2026-08-30T12:15:02.104Z").microsecond == 104_000
    assert instants.parse_instant("2026-08-30T12:15:02Z").microsecond == 0
    for text in ("2026-08-30T12:15:02", "2026-08-30T12:15:02+02:00", "2026-13-30T12:15:02Z", "now"):
        with pytest.raises(Invalid):
            instants.parse_instant(text)


def test_stamp_follows_content_and_path_and_ignores_the_clock(tmp_path):
    folder = tmp_path / "workers" / "host"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("one")
    first = stamp.code_stamp(tmp_path)
    (folder / "a.py").touch()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_text("compiled")
    assert stamp.code_stamp(tmp_path) == first
    (folder / "a.py").write_text("two")
    second = stamp.code_stamp(tmp_path)
    (folder / "a.py").rename(folder / "b.py")
    assert len({first, second, stamp.code_stamp(tmp_path)}) == 3
    assert first.startswith(f"{__version__}+")


def test_receipt_and_journal_hashes_bind_every_field():
    made = receipt.build_receipt(dict.fromkeys(receipt.RECEIPT_FIELDS))
    assert receipt.receipt_verifies(made)
    for name in receipt.RECEIPT_FIELDS:
        assert not receipt.receipt_verifies({**made, name: "changed"})
    row: dict[str, Any] = {
        "run_id": "run_0", "seq": 1, "kind": "transition", "edge": "claim", "from_state": "queued",
        "to_state": "leased", "actor": "worker:lab", "reason_code": "claimed", "detail": {}, "attempt": 1,
        "fencing_token": "7", "at": datetime(2026, 8, 30, tzinfo=UTC), "prev_hash": "sha256:0",
    }  # fmt: skip
    base = receipt.record_hash(**row)
    changed = {**dict.fromkeys(row, "x"), "seq": 2, "attempt": 2, "detail": {"a": 1}, "at": row["at"] + timedelta(0, 1)}
    assert len({base, *(receipt.record_hash(**{**row, name: changed[name]}) for name in row)}) == len(row) + 1
