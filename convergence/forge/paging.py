"""Lists to their end, or marked incomplete: a short list never passes for a whole one.

Complete means that the nodes read, without duplicates, are as many as the last page's count. A count that changes
between pages starts the list again, at most three times. Twenty pages are the most.
"""

from collections.abc import Callable, Mapping
from typing import Any

from convergence.forge.client import ForgeClient
from convergence.forge.documents import profiles
from convergence.forge.documents.connections import Connection
from convergence.forge.documents.dialect import Dialect
from convergence.forge.facts import Comment, Listing, Thread
from convergence.forge.parsing import PARSERS, comment
from runs.contract.errors import FactoryError

MOST_PAGES = 20
MOST_RESTARTS = 3

Page = Mapping[str, Any]
NextPage = Callable[[str | None], Page | None]


class _Shifted(Exception):
    """The list changed between two pages, caught in this module: read it again."""


def whole_list(first: Page | None, next_page: NextPage, *, newest: bool, window: bool) -> tuple[list[Page], bool, int]:
    """Return (nodes in GitHub's order, complete, count) of a list whose first page was read already.

    ``next_page`` reads one page from a cursor, ``None`` being the list's first. An error in the middle makes the list
    incomplete; what was read so far is kept.
    """
    page = first
    for _ in range(MOST_RESTARTS + 1):
        nodes: dict[str, Page] = {}
        total = 0
        try:
            if page is None:
                page = next_page(None)
            total, whole = _walk(page, next_page, nodes, newest=newest, window=window)
        except _Shifted:
            page = None
            continue
        except (FactoryError, KeyError, TypeError):
            whole = False
        return list(nodes.values()), whole and len(nodes) == total, max(total, len(nodes))
    return list(nodes.values()), False, max(total, len(nodes))


def _walk(
    page: Page | None, next_page: NextPage, nodes: dict[str, Page], *, newest: bool, window: bool
) -> tuple[int, bool]:
    """Fill ``nodes`` and return (count of the last page, whether every page was there)."""
    if page is None:
        return 0, False
    total = page["totalCount"]
    for number in range(1, MOST_PAGES + 1):
        if page["totalCount"] != total:
            raise _Shifted
        _merge(nodes, page["nodes"] or [], newest=newest)
        info = page["pageInfo"]
        more, cursor = (
            (info["hasPreviousPage"], info.get("startCursor"))
            if newest
            else (info["hasNextPage"], info.get("endCursor"))
        )
        if not more or window:
            return total, not more
        if number == MOST_PAGES or not cursor:
            break
        following = next_page(cursor)
        if following is None:
            break
        page = following
    return total, False


def _merge(nodes: dict[str, Page], found: list[Page | None], *, newest: bool) -> None:
    """Add the nodes of a page by id, in GitHub's order; a page of a list read from its end goes before the rest."""
    page = {node["id"]: node for node in found if node}
    if not newest:
        for key, node in page.items():
            nodes.setdefault(key, node)
        return
    known = dict(nodes)
    nodes.clear()
    nodes.update({key: node for key, node in page.items() if key not in known})
    nodes.update(known)


def pull_listing(
    client: ForgeClient, dialect: Dialect, connection: Connection, pull: Page, *, broken: bool
) -> Listing[Any]:
    """Return one list of a pull request from its first page in ``pull`` on; ``broken``: an error stood in that page."""
    document = profiles.page_of(connection, dialect)

    def next_page(cursor: str | None) -> Page | None:
        answer = client.query(document, {"id": pull["id"], "cursor": cursor})
        node = answer.data.get("p0")
        return None if node is None or answer.errors else connection.page(node)

    first = connection.page(pull)
    if broken or first is None:
        return Listing(items=(), complete=False, total=0)
    nodes, complete, total = whole_list(first, next_page, newest=connection.newest, window=connection.window)
    if connection.field == "reviewThreads":
        return Listing(items=tuple(_thread(client, node) for node in nodes), complete=complete, total=total)
    parse = PARSERS[connection.field]
    return Listing(items=tuple(parse(node) for node in nodes), complete=complete, total=total)


def _thread(client: ForgeClient, node: Page) -> Thread:
    def next_page(cursor: str | None) -> Page | None:
        answer = client.query(profiles.THREAD_COMMENTS, {"id": node["id"], "cursor": cursor})
        thread = answer.data.get("p0")
        found: Page | None = None if thread is None or answer.errors else thread.get("comments")
        return found

    nodes, complete, total = whole_list(node["comments"], next_page, newest=False, window=False)
    comments: tuple[Comment, ...] = tuple(comment(item) for item in nodes)
    return Thread(
        id=node["id"],
        resolved=node["isResolved"],
        outdated=node["isOutdated"],
        path=node["path"],
        line=node["line"],
        original_line=node["originalLine"],
        comments=Listing(items=comments, complete=complete, total=total),
    )


def rest_list(
    client: ForgeClient, path: str, *, most_pages: int = MOST_PAGES, key: str = ""
) -> Listing[Mapping[str, Any]]:
    """Return a REST list to the end of its ``Link`` header; incomplete at the cap or on an error in the middle.

    ``key`` names the list in answers that are objects.
    """
    items: list[Mapping[str, Any]] = []
    address: str | None = path
    params: Mapping[str, str] | None = {"per_page": "100"}
    for number in range(most_pages):
        try:
            answer = client.rest("GET", address or path, params=params)
        except FactoryError:
            if number == 0:
                raise
            return Listing(items=tuple(items), complete=False, total=len(items))
        items += answer.body[key] if key else answer.body
        address, params = answer.next_url, None
        if address is None:
            return Listing(items=tuple(items), complete=True, total=len(items))
    return Listing(items=tuple(items), complete=False, total=len(items))
