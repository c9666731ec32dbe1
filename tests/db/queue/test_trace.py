"""The live trace: stored once, bounded, without secrets."""

from runs.models import TraceRow
from runs.queue.attempts.trace import MOST_ROWS, trace_append
from tests.queue_driver import claim, enqueue, presented


def row(seq, kind="assistant_text", **payload):
    return {"seq": seq, "at": "2026-08-30T12:31:20.300Z", "kind": kind, "payload": payload}


def test_rows_are_stored_once_and_unknown_kinds_are_dropped():
    enqueue()
    attempt = claim()
    assert trace_append(presented(attempt), [row(1, text="a"), row(2, "invented"), row(4, text="b")]).next_seq == 5
    assert trace_append(presented(attempt), [row(4, text="changed"), row(3, text="late")]).next_seq == 5
    assert list(TraceRow.objects.order_by("seq").values_list("seq", flat=True)) == [1, 3, 4]
    assert TraceRow.objects.get(seq=4).payload == {"text": "b"}


def test_a_large_payload_is_cut_to_a_preview_and_a_token_is_taken_out():
    enqueue()
    attempt = claim()
    trace_append(presented(attempt), [row(1, text="x" * 20_000), row(2, text="Authorization: Bearer abcdef123456")])
    cut = TraceRow.objects.get(seq=1).payload
    assert (cut["truncated"], len(cut["preview"])) == (True, 4096)
    assert cut["originalBytes"] > 20_000
    assert "abcdef123456" not in TraceRow.objects.get(seq=2).payload_json


def test_after_two_thousand_rows_one_says_so_and_only_lifecycle_is_kept():
    enqueue()
    attempt = claim()
    for start in range(1, MOST_ROWS, 200):
        answer = trace_append(presented(attempt), [row(seq, text="t") for seq in range(start, start + 200)])
        assert not answer.full
    answer = trace_append(presented(attempt), [row(2001, text="t"), row(2002, text="t"), row(2003, "lifecycle")])
    assert answer.full
    assert TraceRow.objects.get(seq=2001).kind == "trace_truncated"
    assert not TraceRow.objects.filter(seq=2002).exists()
    assert TraceRow.objects.get(seq=2003).kind == "lifecycle"
    assert trace_append(presented(attempt), [row(2004, text="t")]).full
    assert TraceRow.objects.count() == 2002
