"""Words of other people as an agent may read them: quoted as data, or left out where their author is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.decisions.agent_result import cut
from convergence.quoting import quoted
from convergence.trust import Standing

if TYPE_CHECKING:
    from convergence.forge.facts import Author
    from convergence.trust import People

LARGEST_WORDS = 16 * 1024  # bytes of one text
LEFT_OUT = "[left out: written by {author}, who is not trusted; see {url}]"


def words_told(people: People, text: str, *, author: Author | None, association: str, url: str) -> str:
    """The text as data, or that an author who is not trusted wrote it; blank for a blank one."""
    standing = people.standing(author, association)
    login = author.login if author else "a deleted account"
    if standing is Standing.OTHER:
        return LEFT_OUT.format(author=login, url=url)
    if not text.strip():
        return ""
    short = cut(text, LARGEST_WORDS, f"\n[cut; the whole text: {url}]")
    return quoted(short, author=login, standing=standing, url=url)
