"""One identity for one finding or question, however it is decorated and wherever its lines have moved."""

import hashlib
import re
import unicodedata

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)
LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
DECORATION = str.maketrans("", "", "`*_~>#")
SPACE = re.compile(r"\s+")
TRAILING = ".!?:;,"
DIGITS = 16


def normalised(text: str) -> str:
    """Return the words alone: no code blocks, tags, links, decoration, case or trailing punctuation."""
    words = unicodedata.normalize("NFKC", text)
    words = FENCE.sub("", words)
    words = TAG.sub("", words)
    words = LINK.sub(r"\1", words)
    words = words.translate(DECORATION).lower()
    return SPACE.sub(" ", words).strip().rstrip(TRAILING)


def fingerprint(text: str, path: str | None = None) -> str:
    """Return the first 16 hex digits of the SHA-256 of the normalised text, with its path and a line feed before."""
    words = normalised(text)
    whole = words if path is None else f"{path}\n{words}"
    return hashlib.sha256(whole.encode()).hexdigest()[:DIGITS]
