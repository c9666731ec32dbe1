"""What a review agent returned, read leniently: a known key of a wrong type counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATUSES = frozenset({"converged", "addressed", "needs_input", "blocked"})
DEFAULT_STATUS = "addressed"
LARGEST_TEXT = 8 * 1024  # bytes of a summary or a reply
MOST_ENTRIES = 100  # threads, and acknowledgements
ACK_VERDICTS = ("applied", "declined")
CUT_NOTE = "\n[cut: longer than 8 KiB]"


@dataclass(frozen=True, slots=True)
class ThreadAnswer:
    """What is to be said in one thread, and whether it is settled."""

    id: str
    reply: str = ""
    resolve: bool = False

    def as_json(self) -> dict[str, Any]:
        """The stored form."""
        return {"id": self.id, "reply": self.reply, "resolve": self.resolve}


@dataclass(frozen=True, slots=True)
class AckAnswer:
    """What the agent decided about one suppressed advisory."""

    id: str
    verdict: str  # applied, declined
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The stored form."""
        return {"id": self.id, "verdict": self.verdict, "note": self.note}


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """``status`` is one of the four words; ``raw_status`` what stood there.

    ``ignored`` counts threads and acknowledgements that cannot be used.
    """

    status: str = DEFAULT_STATUS
    raw_status: str = ""
    summary: str = ""
    question: str = ""
    threads: tuple[ThreadAnswer, ...] = ()
    acks: tuple[AckAnswer, ...] = ()
    ignored: int = 0

    @property
    def asks(self) -> bool:
        """Whether a person is really asked something."""
        return self.status in {"needs_input", "blocked"} and bool(self.question)


def agent_verdict(
    artifact: Any, *, known_threads: frozenset[str] = frozenset(), known_advisories: frozenset[str] = frozenset()
) -> AgentVerdict:
    """Read the result; status words are compared exactly, and what is not of the turn's backlog is ignored."""
    result = artifact if isinstance(artifact, Mapping) else {}
    raw = result.get("status")
    threads, unknown = _threads(result.get("threads"), known_threads)
    acks, unusable = _acks(result.get("acks"), known_advisories)
    return AgentVerdict(
        status=raw if isinstance(raw, str) and raw in STATUSES else DEFAULT_STATUS,
        raw_status="" if raw is None else _text(raw if isinstance(raw, str) else repr(raw))[:200],
        summary=cut(_text(result.get("summary"))),
        question=_text(result.get("question")).strip(),
        threads=threads,
        acks=acks,
        ignored=unknown + unusable,
    )


def cut(text: str, limit: int = LARGEST_TEXT, note: str = CUT_NOTE) -> str:
    """The text, or its first ``limit`` bytes with a note that says so; never ends inside a character."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    return raw[:limit].decode(errors="ignore") + note


def _text(value: Any) -> str:
    """The agent's text; a NUL character, which no column of PostgreSQL holds, becomes the replacement character."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else ""


def _threads(value: Any, known: frozenset[str]) -> tuple[tuple[ThreadAnswer, ...], int]:
    entries, ignored = _entries(value, known)
    found = [
        ThreadAnswer(name, cut(_text(item.get("reply")).strip()), item.get("resolve") is True)
        for name, item in entries.items()
    ]
    return tuple(found), ignored


def _acks(value: Any, known: frozenset[str]) -> tuple[tuple[AckAnswer, ...], int]:
    entries, ignored = _entries(value, known)
    found = [
        AckAnswer(name, item["verdict"], cut(_text(item.get("note")).strip()))
        for name, item in entries.items()
        if item.get("verdict") in ACK_VERDICTS
    ]
    return tuple(found), ignored + len(entries) - len(found)


def _entries(value: Any, known: frozenset[str]) -> tuple[dict[str, Mapping[str, Any]], int]:
    """The first entry of each known id, and how many entries are left out."""
    if not isinstance(value, list):
        return {}, 0
    found: dict[str, Mapping[str, Any]] = {}
    for item in value[:MOST_ENTRIES]:
        name = item.get("id") if isinstance(item, Mapping) else None
        if isinstance(name, str) and name in known and name not in found:
            found[name] = item
    return found, len(value) - len(found)
