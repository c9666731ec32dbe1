"""Text without secrets: by the values that a process holds, and by the shapes that credentials have.

One redactor sits where a stream enters the system; what leaves it may be parsed, stored and shown.
"""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

SHORTEST_SECRET = 8  # characters; a shorter value (an early fencing token, "1") would eat ordinary text
OVERLAP = 4096  # characters kept back when a line is cut, so that no cut splits a secret or a JWT
GIT_USER = "x-access-token"
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY = "[redacted:private_key]"

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of credential: ``hint`` is a lower-case text without which the pattern cannot match.

    A group named ``secret`` is what is replaced; without one it is the whole match.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]
    positive: str
    negative: str


def _shape(kind: str, hint: str, pattern: str, positive: str, negative: str) -> Shape:
    return Shape(kind, hint, re.compile(pattern), positive, negative)


_EDGE = r"(?<![A-Za-z0-9])"
SHAPES: tuple[Shape, ...] = (
    _shape("github_token", "gh", _EDGE + r"gh[pousr]_[A-Za-z0-9]{16,}", "ghp_" + "a1B2" * 9, "ghp_short"),
    _shape("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_" + "a1B2" * 9, "github_pat_x"),
    _shape("model_key", "sk-", _EDGE + r"sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}", "sk-ant-" + "a1B2" * 9, "risk-2024"),
    _shape("google_key", "aiza", r"AIza[0-9A-Za-z_-]{35}", "AIza" + "a1B2c" * 7, "AIzatown"),
    _shape("slack_token", "xox", _EDGE + r"xox[abprs]-[A-Za-z0-9-]{10,}", "xoxb-" + "a1B2" * 4, "xoxo-kisses-hugs"),
    _shape("aws_key", "akia", _EDGE + r"AKIA[A-Z0-9]{16}", "AKIA" + "A1B2" * 4, "AKIAmaru"),
    _shape("aws_key", "asia", _EDGE + r"ASIA[A-Z0-9]{16}", "ASIA" + "A1B2" * 4, "ASIA PACIFIC"),
    _shape("gitlab_token", "glpat-", r"glpat-[A-Za-z0-9_-]{16,}", "glpat-" + "a1B2" * 5, "glpat-x"),
    _shape("npm_token", "npm_", _EDGE + r"npm_[A-Za-z0-9]{30,}", "npm_" + "a1B2" * 9, "npm_config_cache"),
    _shape("worker_credential", "fwk_", _EDGE + r"fwk_[A-Za-z0-9_-]{40,}", "fwk_" + "a1B2" * 11, "fwk_x"),
    _shape("api_token", "fat_", _EDGE + r"fat_[A-Za-z0-9_-]{40,}", "fat_" + "a1B2" * 11, "fat_x"),
    _shape(
        "jwt",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2Q",
        "eyJust a word",
    ),
    _shape(
        "abandon_token",  # an agent asks with it whether its submission is still wanted
        "abandon?token=",
        r"abandon\?token=(?P<secret>[A-Za-z0-9_-]{16,})",
        "https://factory.example/hooks/abandon?token=" + "a1B2" * 6,
        "/hooks/abandon?token=TOKEN",
    ),
    _shape(
        "authorization",
        "authorization",
        r"(?i)authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token|digest)\s+)?(?P<secret>[^\s\"',;]{6,})",
        "Authorization: Bearer abcdef123456",
        "authorization is required",
    ),
    _shape(
        "api_key",
        "x-api-key",
        r"(?i)x-api-key[\"']?\s*[:=]\s*[\"']?(?P<secret>[^\s\"',;]{6,})",
        "x-api-key: abcdef123456",
        "the x-api-key header",
    ),
    _shape(
        "url_password",
        "://",
        r"://(?P<secret>[^/\s:@]*:[^/\s@]+)@",
        "https://user:pass@example.com/",
        "https://example.com:8080/@me",
    ),
)


class Redactor:
    """Replaces secrets by ``[redacted:<kind>]`` and counts them per kind. Safe for threads that only redact."""

    def __init__(self, secrets: Mapping[str, Iterable[str]] | None = None) -> None:
        """``secrets`` maps a kind to the values that this process holds; encoded forms are found too."""
        literals: dict[str, str] = {}
        for kind, values in (secrets or {}).items():
            for value in values:
                if len(value) >= SHORTEST_SECRET:
                    literals.update(dict.fromkeys(encodings(value), kind))
        self._literals = sorted(literals.items(), key=lambda item: -len(item[0]))
        self.counts: Counter[str] = Counter()
        self.overlap = max([OVERLAP, *(len(literal) for literal, _ in self._literals)])

    def redact(self, text: str) -> str:
        """The text without secrets; a private key block inside it is replaced as a whole."""
        stream = RedactedStream(self)
        return stream.feed(text) + stream.close()

    def redact_document(self, document: Any) -> Any:
        """The document with every string value redacted; keys stay."""
        if isinstance(document, str):
            return self.redact(document)
        if isinstance(document, Mapping):
            return {key: self.redact_document(value) for key, value in document.items()}
        if isinstance(document, list | tuple):
            return [self.redact_document(value) for value in document]
        return document

    def holds_secret(self, content: bytes) -> bool:
        """Whether bytes that are no text contain a held secret by value."""
        return any(literal.encode("utf-8", "surrogatepass") in content for literal, _ in self._literals)

    def redact_lines(self, text: str) -> str:
        """The text without secrets, private key blocks left to the stream that sees their lines."""
        spans = self.spans(text)
        if not spans:
            return text
        parts: list[str] = []
        at = 0
        for start, end, kind in spans:
            parts += [text[at:start], f"[redacted:{kind}]"]
            at = end
            self.counts[kind] += 1
        parts.append(text[at:])
        return "".join(parts)

    def cut(self, text: str) -> tuple[str, str]:
        """The redacted front of an unfinished line and the raw rest, which no secret straddles."""
        at = max(0, len(text) - self.overlap)
        for start, end, _ in self.spans(text):
            if start < at < end:
                at = start
        return self.redact_lines(text[:at]), text[at:]

    def spans(self, text: str) -> list[Span]:
        """Where the secrets are, in order, overlapping ones merged."""
        found: list[Span] = []
        for literal, kind in self._literals:
            at = text.find(literal)
            while at >= 0:
                found.append((at, at + len(literal), kind))
                at = text.find(literal, at + 1)
        lowered = text.lower()
        for shape in SHAPES:
            if shape.hint in lowered:
                group = "secret" if shape.pattern.groupindex else 0
                found += [(*match.span(group), shape.kind) for match in shape.pattern.finditer(text)]
        found.sort(key=lambda span: (span[0], -span[1]))
        return _merged(found)


class RedactedStream:
    """One stream through a redactor, with memory of a private key block that spans lines."""

    def __init__(self, redactor: Redactor) -> None:
        """One per stream; the redactor may serve many."""
        self._redactor = redactor
        self._inside_key = False

    def feed(self, text: str) -> str:
        """The redacted form of complete lines."""
        if not self._inside_key and "-----BEGIN" not in text:
            return self._redactor.redact_lines(text)
        return "".join(self._feed_line(line) for line in re.split(r"(?<=\n)", text))

    def close(self) -> str:
        """Nothing is held back: the end of the stream ends an open key block."""
        self._inside_key = False
        return ""

    def _feed_line(self, line: str) -> str:
        if self._inside_key:
            end = _END.search(line)
            if end is None:
                return ""
            self._inside_key = False
            return self._feed_line(line[end.end() :])
        begin = _BEGIN.search(line)
        if begin is None:
            return self._redactor.redact_lines(line)
        self._inside_key = True
        self._redactor.counts["private_key"] += 1
        rest = line[begin.end() :]
        front = self._redactor.redact_lines(line[: begin.start()])
        ending = "" if _END.search(rest) else "\n" * rest.endswith("\n")
        return front + PRIVATE_KEY + ending + self._feed_line(rest)


def encodings(value: str) -> set[str]:
    """The forms in which a secret turns up: raw, JSON, URL, and base64 at its three alignments."""
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}
    for text in (value, f"{GIT_USER}:{value}"):
        for shift in range(3):
            standard = _base64_core(text.encode(), shift)
            forms |= {standard, standard.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= SHORTEST_SECRET}


def self_test() -> None:
    """Prove the shapes and a planted value; ``AssertionError`` names what is not redacted."""
    planted = "planted/value+0123456789"
    redactor = Redactor({"planted": [planted]})
    for form in encodings(planted):
        if form in redactor.redact(f"x {form} y"):
            raise AssertionError("the redactor lets a planted value pass")
    shapes_only = Redactor()
    for shape in SHAPES:
        if "[redacted:" not in shapes_only.redact(f"a {shape.positive} b"):
            raise AssertionError(f"the redactor misses the shape {shape.kind}")
        if shapes_only.redact(shape.negative) != shape.negative:
            raise AssertionError(f"the redactor takes {shape.negative!r} for {shape.kind}")


def _base64_core(content: bytes, shift: int) -> str:
    # The characters at both ends depend on the neighbouring bytes; the core between them does not.
    encoded = base64.b64encode(b"\0" * shift + content).decode().rstrip("=")
    tail = 1 if (shift + len(content)) % 3 else 0
    return encoded[(0, 2, 3)[shift] : len(encoded) - tail]


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end, kind in spans:
        if merged and start < merged[-1][1]:
            last = merged[-1]
            merged[-1] = (last[0], max(last[1], end), last[2])
        else:
            merged.append((start, end, kind))
    return merged
