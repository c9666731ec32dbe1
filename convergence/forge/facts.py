"""What was read about a pull request, frozen: facts with the instant of their reading, never interpreted here.

GitHub's own words (review states, check conclusions, merge state) stay as GitHub spells them, in capitals, because
new words may appear at any time. ``None`` on a connection of :class:`PullFacts` means that its profile does not ask
for it; ``None`` on a plain field means that GitHub did not say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

from convergence.forge import codec

T = TypeVar("T")


class Profile(StrEnum):
    """The fixed selections in which a pull request is read."""

    ALIVE = "alive"
    WATCH = "watch"
    HELD = "held"
    MERGE = "merge"
    BACKLOG = "backlog"
    SUBMIT = "submit"


class PullState(StrEnum):
    """Where a pull request stands on GitHub."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class ContextKind(StrEnum):
    """The two kinds of check that a commit can carry."""

    CHECK_RUN = "check_run"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote something; ``typename`` is GitHub's ``User``, ``Bot``, ``Mannequin``, ``Organization`` and so on."""

    login: str
    typename: str


@dataclass(frozen=True, slots=True)
class RepositoryRef:
    """A repository by its number, which never changes, and the name that it has now."""

    forge_id: int
    name_with_owner: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """Items in GitHub's order. ``complete`` only if they are all of ``total``; an incomplete list is no short list."""

    items: tuple[T, ...]
    complete: bool
    total: int


@dataclass(frozen=True, slots=True)
class Review:
    """One review; ``body`` is ``None`` where the profile asks for none; ``commit_sha`` is what GitHub names now."""

    id: int
    node_id: str
    state: str
    submitted_at: datetime | None
    body: str | None
    association: str
    author: Author | None
    commit_sha: str | None
    committed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a review thread or of the conversation."""

    id: int
    node_id: str
    url: str
    body: str
    created_at: datetime
    association: str
    author: Author | None


@dataclass(frozen=True, slots=True)
class Thread:
    """A review thread; ``id`` is its node id; ``line`` is ``None`` for comments on a file and outdated ones."""

    id: str
    resolved: bool
    outdated: bool
    path: str
    line: int | None
    original_line: int | None
    comments: Listing[Comment]


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """A pending reviewer; a team's login is ``organization/team``; ``None`` where GitHub hides who it is."""

    login: str | None
    typename: str


@dataclass(frozen=True, slots=True)
class CheckContext:
    """One check run, or one commit status (then ``name`` is its context and ``status`` its state)."""

    kind: ContextKind
    name: str
    status: str
    conclusion: str | None = None
    database_id: int | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    created_at: datetime | None = None
    url: str | None = None
    suite_id: int | None = None
    app_id: int | None = None
    app_slug: str | None = None
    workflow_id: int | None = None
    workflow_name: str | None = None
    event: str | None = None
    run_number: int | None = None
    workflow_run: int | None = None
    creator: str | None = None
    required: bool | None = None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event of the timeline; ``kind`` is GitHub's type name, such as ``HeadRefForcePushedEvent``."""

    kind: str
    node_id: str
    created_at: datetime
    actor: str | None = None
    before_sha: str | None = None
    after_sha: str | None = None
    reviewer: ReviewRequest | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """The place of a pull request in its base's merge queue."""

    node_id: str
    position: int
    state: str
    enqueued_at: datetime


@dataclass(frozen=True, slots=True)
class ClosingIssue:
    """An issue that this pull request closes; ``association`` is its author's to the repository."""

    node_id: str
    number: int
    title: str
    body: str
    repository: RepositoryRef
    author: Author | None = None
    association: str = "NONE"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the pull request with its whole message."""

    sha: str
    message: str
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class PullRef:
    """How a pull request is asked for: by node id, else by its repository's name and number."""

    owner: str
    name: str
    number: int
    node_id: str | None = None

    @property
    def key(self) -> str:
        """``owner/repo#number`` as it was given."""
        return f"{self.owner}/{self.name}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullFacts:
    """One reading of one pull request, stamped with the server's instant before the request was sent.

    ``head_sha`` is the commit that the branch points at (unknown once the branch is gone); ``head_ref_oid`` is the
    pull request's own idea of its head, which follows a push later.
    """

    profile: Profile
    observed_at: datetime
    node_id: str
    forge_id: int
    number: int
    url: str
    title: str
    state: PullState
    is_draft: bool
    merged_at: datetime | None
    closed_at: datetime | None
    updated_at: datetime
    head_ref: str
    head_sha: str | None
    head_ref_oid: str
    head_repository: RepositoryRef | None
    is_cross_repository: bool
    maintainer_can_modify: bool
    base_ref: str
    base_sha: str | None
    repository: RepositoryRef
    merge_commit_sha: str | None
    author: Author | None

    association: str = "NONE"  # the author's, to the base repository
    body: str | None = None
    review_decision: str | None = None
    mergeable: str | None = None
    merge_state_status: str | None = None
    merge_queue_enabled: bool | None = None
    in_merge_queue: bool | None = None
    queue_entry: QueueEntry | None = None

    reviews: Listing[Review] | None = None
    review_requests: Listing[ReviewRequest] | None = None
    threads: Listing[Thread] | None = None
    opinionated_reviews: Listing[Review] | None = None
    contexts: Listing[CheckContext] | None = None
    timeline: Listing[TimelineEvent] | None = None
    closing_issues: Listing[ClosingIssue] | None = None
    commits: Listing[Commit] | None = None

    @property
    def key(self) -> str:
        """``owner/repo#number`` as GitHub spells it now."""
        return f"{self.repository.name_with_owner}#{self.number}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, for a stored snapshot."""
        plain: dict[str, Any] = codec.to_json(self)
        return plain

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the facts of a stored snapshot; ``Invalid`` ``bad_snapshot`` for another shape."""
        facts: Self = codec.from_json(cls, value)
        return facts
