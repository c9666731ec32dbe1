"""What one server's schema offers beyond what every server has; documents are written accordingly."""

from dataclasses import dataclass

INTROSPECTION = (
    "query Dialect{"
    'pull: __type(name: "PullRequest"){fields{name}} '
    'reviewer: __type(name: "RequestedReviewer"){possibleTypes{name}} '
    'mutation: __type(name: "Mutation"){fields{name}}'
    "}"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The published schema by default; ``request_by_login`` is served by some hosts without being published."""

    rollup_on_pull: bool = True
    bot_reviewers: bool = True
    merge_queue: bool = True
    request_by_login: bool = False
