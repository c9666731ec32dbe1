"""How a pull request lands: the method that its repository allows, and the one commit that a squash makes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

METHODS = ("squash", "merge", "rebase")  # in this order when the wanted one is not allowed
MOST_TITLE = 250  # characters
MOST_AUTHORS = 20
HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
NAMED_ALREADY = re.compile(r"^co-authored-by:[^<\n]*<([^>\n]*)>[ \t]*$", re.IGNORECASE | re.MULTILINE)


def choose_method(wanted: str, allowed: Mapping[str, bool | None]) -> tuple[str, str]:
    """Return the method and why it is not the wanted one (blank when it is). Unknown counts as allowed."""
    possible = [method for method in METHODS if allowed.get(method) is not False]
    if wanted in possible or not possible:
        return wanted, ""
    return possible[0], f"the repository does not allow {wanted}"


def squash_title(template: str, *, title: str, number: int) -> str:
    """Return one line of at most 250 characters; a long title gives way to what stands around it."""
    title = " ".join(title.split())
    frame = " ".join(template.replace("{number}", str(number)).split())
    around = len(frame.replace("{title}", ""))
    room = max(MOST_TITLE - around, 0)
    if len(title) > room:
        title = f"{title[: max(room - 1, 0)].rstrip()}…"
    return frame.replace("{title}", title)[:MOST_TITLE]


def squash_body(kind: str, *, text: str | None, authors: Iterable[tuple[str, str]]) -> str | None:
    """Return the body with a Co-authored-by line for each author (name, address); None leaves it to the forge.

    ``kind``: ``pr_body`` without its HTML comments, ``empty``, or ``commits``, which is the forge's own text.
    """
    if kind == "commits":
        return None
    kept = HTML_COMMENT.sub("", text or "").replace("\r\n", "\n").strip() if kind == "pr_body" else ""
    kept = re.sub(r"\n{3,}", "\n\n", kept)
    lines = _author_lines(authors, {address.lower() for address in NAMED_ALREADY.findall(kept)})
    if not lines:
        return kept
    last = kept.rsplit("\n", 1)[-1]
    gap = "\n" if NAMED_ALREADY.match(last) else "\n\n"
    return gap.join([kept, "\n".join(lines)]) if kept else "\n".join(lines)


def _author_lines(authors: Iterable[tuple[str, str]], named: set[str]) -> list[str]:
    lines: list[str] = []
    for name, address in authors:
        plain = " ".join(re.sub(r"[<>\r\n]", " ", name).split())
        where = address.strip()
        if not plain or not where or where.lower() in named or re.search(r"[<>\s]", where):
            continue
        named.add(where.lower())
        lines.append(f"Co-authored-by: {plain} <{where}>")
        if len(lines) == MOST_AUTHORS:
            break
    return lines
