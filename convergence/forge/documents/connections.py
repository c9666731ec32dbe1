"""The lists of a pull request: how each is selected in a profile, page by page, and where it stands in an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convergence.forge.documents import fields
from convergence.forge.documents.dialect import Dialect

TIMELINE_TYPES = "[HEAD_REF_FORCE_PUSHED_EVENT, REVIEW_REQUESTED_EVENT, CLOSED_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]"


@dataclass(frozen=True, slots=True)
class Connection:
    """One list. ``newest`` lists are read from their end; ``window`` ones are never read further than one page."""

    field: str
    node: Callable[[Dialect, str], str]
    newest: bool = False
    window: bool = False
    extra: str = ""

    @property
    def answer_names(self) -> frozenset[str]:
        """The names under which an answer's errors speak of this list."""
        return frozenset({"statusCheckRollup", "headCommits"}) if self.field == "contexts" else frozenset({self.field})

    def select(self, dialect: Dialect, *, size: int, required: str, cursor: str | None = None) -> str:
        """Return its selection; ``cursor`` is the name of a variable, ``required`` the argument of ``isRequired``."""
        arguments = [f"{'last' if self.newest else 'first'}: {size}"]
        if cursor:
            arguments.append(f"{'before' if self.newest else 'after'}: ${cursor}")
        if self.extra:
            arguments.append(self.extra)
        inner = f"{self.field}({', '.join(arguments)}){{{fields.PAGE} nodes{{{self.node(dialect, required)}}}}}"
        if self.field != "contexts":
            return inner
        if dialect.rollup_on_pull:
            return f"statusCheckRollup{{{inner}}}"
        return f"headCommits: commits(last: 1){{nodes{{commit{{statusCheckRollup{{{inner}}}}}}}}}"

    def page(self, pull: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the page of this list in an answered pull request; ``None`` where GitHub gave none."""
        if self.field != "contexts":
            found: Mapping[str, Any] | None = pull.get(self.field)
            return found
        holder: Any = pull
        if "headCommits" in pull:
            nodes = (pull["headCommits"] or {}).get("nodes") or [None]
            holder = (nodes[0] or {}).get("commit") or {}
        if "statusCheckRollup" not in holder:
            return None
        if holder["statusCheckRollup"] is None:  # a commit without any check
            return {"totalCount": 0, "nodes": [], "pageInfo": {"hasNextPage": False, "hasPreviousPage": False}}
        rollup: Mapping[str, Any] | None = holder["statusCheckRollup"].get("contexts")
        return rollup


REVIEWS_WITHOUT_BODY = Connection("reviews", lambda _d, _r: fields.REVIEW_WITHOUT_BODY, newest=True)
REVIEWS = Connection("reviews", lambda _d, _r: fields.REVIEW, newest=True)
OPINIONATED = Connection("latestOpinionatedReviews", lambda _d, _r: fields.REVIEW)
REQUESTS = Connection("reviewRequests", lambda d, _r: f"id {fields.requested_reviewer(bots=d.bot_reviewers)}")
THREADS = Connection("reviewThreads", lambda _d, _r: fields.THREAD)
CONTEXTS = Connection("contexts", lambda _d, required: fields.context(required))
TIMELINE = Connection(
    "timelineItems",
    lambda d, _r: fields.timeline(bots=d.bot_reviewers),
    newest=True,
    window=True,
    extra=f"itemTypes: {TIMELINE_TYPES}",
)
CLOSING = Connection("closingIssuesReferences", lambda _d, _r: fields.CLOSING_ISSUE)
COMMITS = Connection("commits", lambda _d, _r: fields.COMMIT)
