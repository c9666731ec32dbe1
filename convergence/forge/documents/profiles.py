"""The six profiles and the documents that read them: fifty by node id, one by name, one page of one list."""

from dataclasses import dataclass

from convergence.forge.documents import connections as lists
from convergence.forge.documents import fields
from convergence.forge.documents.connections import Connection
from convergence.forge.documents.dialect import Dialect
from convergence.forge.facts import Profile

PAGE_SIZE = 100  # GitHub's own maximum


@dataclass(frozen=True, slots=True)
class Selection:
    """A profile: plain fields beyond the base, lists with their first page's size, and whether rows share a request."""

    plain: str = ""
    queue: bool = False
    connections: tuple[tuple[Connection, int], ...] = ()
    shared: bool = True


SELECTIONS: dict[Profile, Selection] = {
    Profile.ALIVE: Selection(),
    Profile.WATCH: Selection(connections=((lists.REVIEWS_WITHOUT_BODY, 20), (lists.REQUESTS, 20))),
    Profile.HELD: Selection(plain=fields.HELD, connections=((lists.OPINIONATED, 20),)),
    Profile.MERGE: Selection(
        plain=fields.MERGE, queue=True, connections=((lists.CONTEXTS, PAGE_SIZE), (lists.OPINIONATED, 20))
    ),
    Profile.BACKLOG: Selection(
        connections=((lists.THREADS, PAGE_SIZE), (lists.REVIEWS, PAGE_SIZE), (lists.TIMELINE, 20)), shared=False
    ),
    Profile.SUBMIT: Selection(
        plain="body", connections=((lists.CLOSING, 50), (lists.COMMITS, PAGE_SIZE)), shared=False
    ),
}


def _selected(profile: Profile, dialect: Dialect, required: str) -> str:
    selection = SELECTIONS[profile]
    parts = [fields.BASE, selection.plain]
    if selection.queue and dialect.merge_queue:
        parts.append(fields.QUEUE)
    parts += [item.select(dialect, size=size, required=required) for item, size in selection.connections]
    return " ".join(part for part in parts if part)


def by_node_ids(profile: Profile, dialect: Dialect, count: int) -> str:
    """Return the document with aliases ``p0`` … for the variables ``$i0`` …; one alias never spoils another."""
    variables = ", ".join(f"$i{n}: ID!" for n in range(count))
    if any(item is lists.CONTEXTS for item, _ in SELECTIONS[profile].connections):
        bodies = [_selected(profile, dialect, f"pullRequestId: $i{n}") for n in range(count)]
        fragment = ""
    else:
        bodies = ["...Profile"] * count
        fragment = f" fragment Profile on PullRequest{{{_selected(profile, dialect, '')}}}"
    aliases = " ".join(
        f"p{n}: node(id: $i{n}){{__typename ...on PullRequest{{{body}}}}}" for n, body in enumerate(bodies)
    )
    return f"query Pulls({variables}){{{fields.RATE} {aliases}}}{fragment}"


def by_name(profile: Profile, dialect: Dialect) -> str:
    """Return the document for ``$owner``, ``$name``, ``$number``, for a pull request without a node id."""
    selected = _selected(profile, dialect, "pullRequestNumber: $number")
    return (
        f"query Pull($owner: String!, $name: String!, $number: Int!){{{fields.RATE} "
        f"p0: repository(owner: $owner, name: $name){{pullRequest(number: $number){{__typename {selected}}}}}}}"
    )


def page_of(connection: Connection, dialect: Dialect) -> str:
    """Return the document for one page of one list of the pull request ``$id``; no ``$cursor`` is the first page."""
    selected = connection.select(dialect, size=PAGE_SIZE, required="pullRequestId: $id", cursor="cursor")
    return (
        f"query Page($id: ID!, $cursor: String){{{fields.RATE} "
        f"p0: node(id: $id){{__typename ...on PullRequest{{{selected}}}}}}}"
    )


THREAD_COMMENTS = (
    f"query ThreadComments($id: ID!, $cursor: String){{{fields.RATE} "
    "p0: node(id: $id){__typename ...on PullRequestReviewThread{"
    f"comments(first: {PAGE_SIZE}, after: $cursor){{{fields.PAGE} nodes{{{fields.COMMENT}}}}}}}}}}}"
)
IDENTITY = (
    f"query Identity($owner: String!, $name: String!, $number: Int!){{{fields.RATE} "
    f"p0: repository(owner: $owner, name: $name){{{fields.REPOSITORY} pullRequest(number: $number){{id number}}}}}}"
)
VIEWER = f"query Viewer{{{fields.RATE} viewer{{login}}}}"
