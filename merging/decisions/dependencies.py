"""Which pull requests a text names as those to merge first, and what a reading of one of them means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from convergence.forge.references import LARGEST_NUMBER, NAME, NUMBER, OWNER, address_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LINE = re.compile(r"^[ \t>*+-]*depends[ -]on(?P<colon>[ \t]*:)?(?P<rest>[ \t]+.*|)$", re.IGNORECASE | re.MULTILINE)
HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^(?P<fence>```+|~~~+).*?(?:^(?P=fence)|\Z)", re.DOTALL | re.MULTILINE)
SHORT = re.compile(r"(?:(?P<owner>[^/#\s]+)/(?P<name>[^/#\s]+))?#(?P<number>\d+)")
SEPARATORS = re.compile(r"[,\s]+")
FILLING = frozenset({"and", "&", "-"})
MOST = 50  # references of one text


class Source(StrEnum):
    """Where a dependency comes from."""

    DECLARED = "declared"  # a line of the body; follows it
    SUBMITTED = "submitted"  # named with the submit; replaced by the next one
    PLANNED = "planned"  # the plan's own
    DISCOVERED = "discovered"  # named by an agent; added only


class Standing(StrEnum):
    """How a dependency stands; only ``clear`` lets a pull request pass."""

    CLEAR = "clear"
    WAITING = "waiting"
    DEAD = "dead"  # closed without merging


NOT_A_PULL_REQUEST = "not_a_pull_request"
UNREADABLE = "unreadable"
CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class Reference:
    """A pull request by the name that a text gives it."""

    owner: str
    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}#{self.number}"

    @property
    def key(self) -> str:
        """The key while the repository's number is not known."""
        return str(self).lower()


@dataclass(frozen=True, slots=True)
class Named:
    """The references of a text, each once, and the words that name nothing."""

    references: tuple[Reference, ...] = ()
    unreadable: tuple[str, ...] = ()


def known_key(repository_id: int, number: int) -> str:
    """The key of a pull request whose repository was read."""
    return f"{repository_id}#{number}"


def ahead_of(key: str, edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Return everything that lands before ``key``, each once, in an order in which it can; a cycle is cut.

    ``edges`` names for a pull request those that it merges after.
    """
    order: list[str] = []
    seen = {key}
    open_ends = [(key, iter(edges.get(key, ())))]
    while open_ends:
        one, rest = open_ends[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            open_ends.pop()
            order.append(one)
        else:
            seen.add(following)
            open_ends.append((following, iter(edges.get(following, ()))))
    return order[:-1]


def reference_of(text: str, *, repository: str, server_url: str) -> Reference | None:
    """What one word names: ``owner/repo#12``, ``#12`` of ``repository``, or the address of a page; None for others."""
    text = text.strip().strip("<>()[]").rstrip(".;:!?")
    if "://" in text:
        return _of_address(text, server_url)
    short = SHORT.fullmatch(text)
    if short is None:
        return None
    own_owner, _, own_name = repository.partition("/")
    return _checked(short["owner"] or own_owner, short["name"] or own_name, short["number"])


def references_of(value: Any, *, repository: str, server_url: str) -> Named:
    """The references of a list, or of a text with commas or spaces between them."""
    items = value if isinstance(value, list | tuple) else [value]
    words = [word for item in items if isinstance(item, str) for word in SEPARATORS.split(item) if word]
    return _named(words, repository=repository, server_url=server_url)


def declared(body: str | None, *, repository: str, server_url: str) -> Named:
    """The references of every ``Depends-on:`` line that a reader of the body sees.

    Without a colon a line counts up to its first other word, so that prose that begins alike declares nothing.
    """
    words: list[str] = []
    for line in LINE.finditer(HIDDEN.sub("", (body or "").replace("\r\n", "\n"))):
        found = [each for each in SEPARATORS.split(line["rest"]) if each and each.lower() not in FILLING]
        if not line["colon"]:
            found = _leading(found, repository=repository, server_url=server_url)
        words += found
    return _named(words, repository=repository, server_url=server_url)


def _leading(words: list[str], *, repository: str, server_url: str) -> list[str]:
    for place, each in enumerate(words):
        if reference_of(each, repository=repository, server_url=server_url) is None:
            return words[:place]
    return words


def _named(words: Iterable[str], *, repository: str, server_url: str) -> Named:
    found: dict[str, Reference] = {}
    unreadable: dict[str, None] = {}
    for each in words:
        reference = reference_of(each, repository=repository, server_url=server_url)
        if reference is None:
            unreadable[each[:100]] = None
        else:
            found.setdefault(reference.key, reference)
    return Named(tuple(found.values())[:MOST], tuple(unreadable)[:MOST])


def _of_address(text: str, server_url: str) -> Reference | None:
    owner, name, kind, number = address_parts(text, server_url) or ("", "", "", "")
    return _checked(owner, name, number) if kind in {"pull", "issues"} else None


def _checked(owner: str, name: str, number: str) -> Reference | None:
    right = OWNER.fullmatch(owner) and NAME.fullmatch(name) and NUMBER.fullmatch(number)
    if not right or not 1 <= int(number) <= LARGEST_NUMBER:
        return None
    return Reference(owner, name, int(number))
