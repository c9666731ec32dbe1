"""What a review agent returned, read leniently: a known key of a wrong type counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATUSES = frozenset({"converged", "addressed", "needs_input", "blocked"})
DEFAULT_STATUS = "addressed"
LARGEST_TEXT = 8 * 1024  # bytes of a summary or a reply
MOST_THREADS = 100
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
class AgentVerdict:
    """``status`` is one of the four words; ``raw_status`` what stood there. ``ignored`` counts unusable threads."""

    status: str = DEFAULT_STATUS
    raw_status: str = ""
    summary: str = ""
    question: str = ""
    threads: tuple[ThreadAnswer, ...] = ()
    ignored: int = 0

    @property
    def asks(self) -> bool:
        """Whether a person is really asked something."""
        return self.status in {"needs_input", "blocked"} and bool(self.question)


def agent_verdict(artifact: Any, *, known_threads: frozenset[str] = frozenset()) -> AgentVerdict:
    """Read the result; status words are compared exactly, and threads outside the turn's backlog are ignored."""
    result = artifact if isinstance(artifact, Mapping) else {}
    raw = result.get("status")
    threads, ignored = _threads(result.get("threads"), known_threads)
    return AgentVerdict(
        status=raw if isinstance(raw, str) and raw in STATUSES else DEFAULT_STATUS,
        raw_status="" if raw is None else _text(raw if isinstance(raw, str) else repr(raw))[:200],
        summary=cut(_text(result.get("summary"))),
        question=_text(result.get("question")).strip(),
        threads=threads,
        ignored=ignored,
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
    if not isinstance(value, list):
        return (), 0
    found: dict[str, ThreadAnswer] = {}
    ignored = max(0, len(value) - MOST_THREADS)
    for item in value[:MOST_THREADS]:
        name = item.get("id") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or name not in known or name in found:
            ignored += 1
            continue
        found[name] = ThreadAnswer(name, cut(_text(item.get("reply")).strip()), item.get("resolve") is True)
    return tuple(found.values()), ignored
