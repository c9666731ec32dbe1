"""Findings that a review lists in its body under "suppressed comments" instead of opening threads.

The block begins at a heading or ``<summary>`` that announces their number, and ends at its ``</details>`` or with the
body. Nothing before the block and no line of fenced code begins an advisory.
"""

import re

from convergence.reviewers.contract import Advisories, Advisory

PHRASE = r"(?:suppressed comments \((?P<first>\d+)\)|comments suppressed[^\n]*?\((?P<second>\d+)\))"
HEADING = re.compile(rf"^[ \t]*#{{1,6}}[ \t]+[^\n]*?{PHRASE}[^\n]*$", re.IGNORECASE | re.MULTILINE)
SUMMARY = re.compile(rf"<summary>[^<]*?{PHRASE}[^<]*</summary>", re.IGNORECASE)
DETAILS = re.compile(r"<(?P<close>/?)details\b[^>]*>", re.IGNORECASE)
PLACE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?P<mark>\*\*|`)(?P<path>[^*`\n]*?[^*`:\s])(?::(?P<line>\d+)(?:-\d+)?)?(?P=mark)"
    r"[ \t]*(?::[ \t]*(?P<text>[^\n]*))?$",
    re.MULTILINE,
)
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
LIST_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d+\.)[ \t]+", re.MULTILINE)


def suppressed_advisories(body: str) -> Advisories:
    """Return how many advisories the body announces and those that it lists."""
    body = body.replace("\r\n", "\n")
    visible = FENCE.sub(_blank, body)
    starts = [(match, kind) for kind in (HEADING, SUMMARY) for match in [kind.search(visible)] if match]
    if not starts:
        return Advisories(announced=0, parsed=())
    start, kind = min(starts, key=lambda found: found[0].start())
    end = _end(visible, start.end(), depth=1 if kind is SUMMARY else 0)
    announced = int(start["first"] or start["second"])
    places = list(PLACE.finditer(visible, start.end(), end))
    stops = [*(place.start() for place in places[1:]), end]  # without a place there is only the end
    parsed = tuple(_advisory(place, body[place.end() : stop]) for place, stop in zip(places, stops, strict=False))
    return Advisories(announced=announced, parsed=parsed)


def _advisory(place: re.Match[str], rest: str) -> Advisory:
    text = "\n".join(part for part in (place["text"] or "", FENCE.sub("", rest)) if part)
    return Advisory(
        path=place["path"].strip(),
        line=int(place["line"]) if place["line"] else None,
        text=LIST_MARK.sub("", text.strip()).strip(),
    )


def _end(visible: str, begin: int, depth: int) -> int:
    """Return where the block's own ``</details>`` stands, nested ones skipped; else the end of the body."""
    for tag in DETAILS.finditer(visible, begin):
        depth += -1 if tag["close"] else 1
        if depth <= 0 and tag["close"]:
            return tag.start()
    return len(visible)


def _blank(match: re.Match[str]) -> str:
    """Hide fenced code without moving what follows it."""
    return re.sub(r"[^\n]", " ", match[0])
