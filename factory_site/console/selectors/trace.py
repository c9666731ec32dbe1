"""What an agent does, entry by entry: a tool call and its result are one entry where both are in the window."""

from __future__ import annotations

import json
import signal as signals
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from runs.models import Attempt, TraceRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

WINDOW = 200
FEW = 3  # errors that stand on top of a failed run
TEXT, TOOLS, USAGE = ("assistant_text",), ("tool_use", "tool_result"), ("usage",)
ERROR = Q(kind="tool_result", payload_json__contains='"isError":true') | (
    Q(kind="lifecycle", payload_json__contains='"note":"exit"') & ~Q(payload_json__contains='"exitCode":0')
)
ONLY: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "tools": ("Tools", Q(kind__in=TOOLS)),
    "text": ("Text", Q(kind__in=TEXT)),
    "errors": ("Errors", ERROR),
    "usage": ("Usage", Q(kind__in=USAGE)),
}
WORDS = {
    "assistant_text": "Text",
    "tool_use": "Tool",
    "tool_result": "Result",
    "usage": "Usage",
    "lifecycle": "Run",
    "trace_truncated": "Cut",
}
ONE_LINE = 160
TELLING = frozenset({"command", "path", "file_path", "filePath", "pattern", "query", "url"})
MILLISECONDS = 1000


@dataclass(slots=True)
class Entry:
    """One entry: ``line`` stands in one line, ``body`` folds; ``tool`` joins a result that comes later to its call."""

    seq: int
    at: datetime
    kind: str
    word: str
    name: str = ""
    line: str = ""
    body: str = ""
    output: str = ""
    tool: str = ""
    is_error: bool = False
    has_result: bool = False
    seconds: float | None = None
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Window:
    """Entries in the order of time; ``earlier`` is the seq before which there are more, ``last`` the newest seen."""

    entries: Sequence[Entry]
    earlier: int | None
    last: int


def trace_window(attempt: Attempt, *, only: str = "", found: str = "", before: int | None = None) -> Window:
    """The newest entries of an attempt, at most 200, in one query."""
    rows = TraceRow.objects.filter(ONLY[only][1], attempt=attempt)
    if found:
        rows = rows.filter(payload_json__icontains=json.dumps(found)[1:-1])
    if before is not None:
        rows = rows.filter(seq__lt=before)
    newest = list(rows.order_by("-seq")[: WINDOW + 1])
    shown = newest[:WINDOW][::-1]
    last = shown[-1].seq if shown else -1
    return Window(_entries(shown), shown[0].seq if len(newest) > WINDOW else None, last)


def trace_since(attempt: Attempt, since: int) -> Window:
    """The entries after this seq, at most 200, in one query."""
    rows = list(TraceRow.objects.filter(attempt=attempt, seq__gt=since).order_by("seq")[:WINDOW])
    return Window(_entries(rows), None, rows[-1].seq if rows else since)


def trace_counts(attempt: Attempt) -> dict[str, int]:
    """How many rows each filter shows; an attempt has at most 2,201. A call and its result count once."""
    calls = Q(kind="tool_use")
    found: dict[str, int] = TraceRow.objects.filter(attempt=attempt).aggregate(
        all=Count("pk", filter=~Q(kind="tool_result")),
        tools=Count("pk", filter=calls),
        text=Count("pk", filter=ONLY["text"][1]),
        errors=Count("pk", filter=ERROR),
        usage=Count("pk", filter=ONLY["usage"][1]),
    )
    return {"": found["all"], **{name: found[name] for name in ("tools", "text", "errors", "usage")}}


def first_errors(attempt: Attempt) -> list[Entry]:
    """The first tool calls of an attempt that failed, with what they were called for; two queries."""
    failed = list(TraceRow.objects.filter(ERROR, attempt=attempt).exclude(kind="lifecycle").order_by("seq")[:FEW])
    if not failed:
        return []
    before = TraceRow.objects.filter(attempt=attempt, kind="tool_use", seq__lt=failed[-1].seq).order_by("-seq")
    entries = _entries(sorted([*before[:WINDOW], *failed], key=lambda row: row.seq))
    return [entry for entry in entries if entry.is_error]


def last_words(attempt: Attempt) -> str:
    """The last text of an attempt; blank without one."""
    row = TraceRow.objects.filter(attempt=attempt, kind="assistant_text").order_by("-seq").first()
    return str(row.payload.get("text", "")) if row else ""


def ended_by_signal(attempt: Attempt) -> str:
    """The sentence about the signal that ended the agent of an attempt; blank when it left by itself."""
    exits = TraceRow.objects.filter(attempt=attempt, kind="lifecycle", payload_json__contains='"note":"exit"')
    row = exits.order_by("-seq").first()
    number = row.payload.get("signal") if row else None
    return f"T{ended_by(number)[1:]}; it did not leave by itself." if number else ""


def ended_by(number: int) -> str:
    """What a signal did, by number and name."""
    try:
        name = f" ({signals.Signals(number).name})"
    except ValueError:
        name = ""
    return f"the agent was ended by signal {number}{name}"


def _entries(rows: Sequence[TraceRow]) -> list[Entry]:
    found: list[Entry] = []
    calls: dict[str, Entry] = {}
    for row in rows:
        payload = row.payload
        if row.kind == "tool_result" and str(payload.get("toolUseId")) in calls:
            _answered(calls[str(payload.get("toolUseId"))], payload)
            continue
        entry = _entry(row, payload)
        if row.kind == "tool_use":
            calls[entry.tool] = entry
        found.append(entry)
    return found


def _entry(row: TraceRow, payload: dict[str, Any]) -> Entry:
    entry = Entry(row.seq, row.at, row.kind, WORDS.get(row.kind, row.kind))
    if payload.get("truncated"):
        entry.body = str(payload.get("preview", ""))
        entry.line = f"cut: the whole entry has {payload.get('originalBytes', 0):,} bytes"
    elif row.kind == "assistant_text":
        entry.body = str(payload.get("text", ""))
    elif row.kind == "tool_use":
        _called(entry, payload)
    elif row.kind == "tool_result":
        entry.tool = str(payload.get("toolUseId", ""))
        _answered(entry, payload)
    elif row.kind == "usage":
        entry.facts = _usage(payload)
    elif row.kind == "lifecycle":
        _lifecycle(entry, payload)
    elif row.kind == "trace_truncated":
        entry.line = "From here on the trace is full; the transcript has the rest"
    return entry


def _called(entry: Entry, payload: dict[str, Any]) -> None:
    entry.tool = str(payload.get("id", ""))
    entry.name = str(payload.get("name", "")) or "tool"
    given = payload.get("input")
    values = _values(given)
    first = next((value for value in values if isinstance(value, str) and value.strip()), "")
    entry.line = " ".join(first.split())[:ONE_LINE]
    is_whole = len(values) == 1 and isinstance(values[0], str) and entry.line == values[0]
    entry.body = "" if is_whole or not given else json.dumps(given, indent=2, ensure_ascii=False)


def _values(given: Any) -> list[Any]:
    """What a tool was called with, the telling part first."""
    if not isinstance(given, dict):
        return [given]
    return [given[name] for name in sorted(given, key=lambda name: (name not in TELLING, name))]


def _answered(entry: Entry, payload: dict[str, Any]) -> None:
    content = payload.get("content")
    entry.output = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    entry.is_error = bool(payload.get("isError"))
    entry.has_result = True
    length = payload.get("durationMs")
    entry.seconds = length / MILLISECONDS if isinstance(length, int | float) else None


def _usage(payload: dict[str, Any]) -> list[tuple[str, str]]:
    words = {"inputTokens": "in", "outputTokens": "out", "cacheReadTokens": "from cache", "turns": "turns"}
    found = [(word, f"{payload[name]:,}") for name, word in words.items() if isinstance(payload.get(name), int)]
    cost = payload.get("costUsd")
    return [*found, ("cost", f"${cost:,.2f}")] if isinstance(cost, int | float) else found


def _lifecycle(entry: Entry, payload: dict[str, Any]) -> None:
    note = str(payload.get("note", ""))
    entry.name = note.replace("_", " ")
    more = {name: value for name, value in payload.items() if name != "note" and value is not None}
    if note == "exit":
        entry.is_error = payload.get("exitCode") != 0
        signal = payload.get("signal")
        entry.line = ended_by(signal) if signal else f"the agent ended with code {payload.get('exitCode')}"
        return
    entry.line = ", ".join(f"{name}: {value}" for name, value in more.items())[:ONE_LINE]
