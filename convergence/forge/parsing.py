"""GitHub's JSON to facts, one function for each kind of thing; a missing required field raises ``KeyError``."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from convergence.forge.facts import (
    Author,
    CheckContext,
    ClosingIssue,
    Comment,
    Commit,
    ContextKind,
    Listing,
    Profile,
    PullFacts,
    PullState,
    QueueEntry,
    RepositoryRef,
    Review,
    ReviewRequest,
    TimelineEvent,
)

Node = Mapping[str, Any]


def instant(text: str | None) -> datetime | None:
    """Return the instant of GitHub's RFC 3339 text."""
    return None if text is None else datetime.fromisoformat(text)


def known_instant(text: str) -> datetime:
    """Return the instant of a field that GitHub always fills."""
    return datetime.fromisoformat(text)


def author(node: Node | None) -> Author | None:
    """Return who it was; ``None`` for a deleted account."""
    return None if node is None else Author(login=node["login"], typename=node.get("__typename", "User"))


def repository(node: Node) -> RepositoryRef:
    """Return the repository with its number."""
    return RepositoryRef(forge_id=node["databaseId"], name_with_owner=node["nameWithOwner"], url=node.get("url"))


def review(node: Node) -> Review:
    """Return a review, with or without its body."""
    commit = node.get("commit") or {}
    return Review(
        id=int(node["fullDatabaseId"]),
        node_id=node["id"],
        state=node["state"],
        submitted_at=instant(node["submittedAt"]),
        body=node.get("body"),
        association=node["authorAssociation"],
        author=author(node["author"]),
        commit_sha=commit.get("oid"),
        committed_at=instant(commit.get("committedDate")),
    )


def comment(node: Node) -> Comment:
    """Return one comment of a thread."""
    return Comment(
        id=int(node["fullDatabaseId"]),
        node_id=node["id"],
        url=node["url"],
        body=node["body"],
        created_at=known_instant(node["createdAt"]),
        association=node["authorAssociation"],
        author=author(node["author"]),
    )


def review_request(node: Node) -> ReviewRequest:
    """Return who is asked; the login stays unknown where GitHub hides it."""
    who = node.get("requestedReviewer") or {}
    return ReviewRequest(login=who.get("login") or who.get("combinedSlug"), typename=who.get("__typename", ""))


def check_context(node: Node) -> CheckContext:
    """Return a check run or a commit status."""
    if node["__typename"] == "StatusContext":
        return CheckContext(
            kind=ContextKind.STATUS,
            name=node["context"],
            status=node["state"],
            created_at=instant(node["createdAt"]),
            url=node["targetUrl"],
            creator=(node["creator"] or {}).get("login"),
            required=node.get("isRequired"),
        )
    suite = node["checkSuite"] or {}
    app, run = suite.get("app") or {}, suite.get("workflowRun") or {}
    workflow = run.get("workflow") or {}
    return CheckContext(
        kind=ContextKind.CHECK_RUN,
        name=node["name"],
        status=node["status"],
        conclusion=node["conclusion"],
        database_id=node["databaseId"],
        started_at=instant(node["startedAt"]),
        completed_at=instant(node["completedAt"]),
        url=node["detailsUrl"],
        suite_id=suite.get("databaseId"),
        app_id=app.get("databaseId"),
        app_slug=app.get("slug"),
        workflow_id=workflow.get("databaseId"),
        workflow_name=workflow.get("name"),
        event=run.get("event"),
        run_number=run.get("runNumber"),
        workflow_run=run.get("databaseId"),
        required=node.get("isRequired"),
    )


def timeline_event(node: Node) -> TimelineEvent:
    """Return one event of the four kinds that are asked for."""
    asked = node.get("requestedReviewer")
    return TimelineEvent(
        kind=node["__typename"],
        node_id=node["id"],
        created_at=known_instant(node["createdAt"]),
        actor=(node.get("actor") or {}).get("login"),
        before_sha=(node.get("beforeCommit") or {}).get("oid"),
        after_sha=(node.get("afterCommit") or {}).get("oid"),
        reviewer=review_request(node) if asked else None,
        reason=node.get("reason"),
    )


def closing_issue(node: Node) -> ClosingIssue:
    """Return an issue that the pull request closes."""
    return ClosingIssue(
        node_id=node["id"],
        number=node["number"],
        title=node["title"],
        body=node["body"],
        repository=repository(node["repository"]),
        author=author(node["author"]),
        association=node["authorAssociation"],
    )


def commit(node: Node) -> Commit:
    """Return a commit with its whole message."""
    inner = node["commit"]
    return Commit(sha=inner["oid"], message=inner["message"], committed_at=known_instant(inner["committedDate"]))


def queue_entry(node: Node | None) -> QueueEntry | None:
    """Return the place in the merge queue, if there is one."""
    if node is None:
        return None
    return QueueEntry(
        node_id=node["id"],
        position=node["position"],
        state=node["state"],
        enqueued_at=known_instant(node["enqueuedAt"]),
    )


PARSERS: dict[str, Callable[[Node], Any]] = {
    "reviews": review,
    "latestOpinionatedReviews": review,
    "reviewRequests": review_request,
    "contexts": check_context,
    "timelineItems": timeline_event,
    "closingIssuesReferences": closing_issue,
    "commits": commit,
}
LISTING_FIELDS = {
    "reviews": "reviews",
    "latestOpinionatedReviews": "opinionated_reviews",
    "reviewRequests": "review_requests",
    "reviewThreads": "threads",
    "contexts": "contexts",
    "timelineItems": "timeline",
    "closingIssuesReferences": "closing_issues",
    "commits": "commits",
}


def pull_facts(node: Node, profile: Profile, observed_at: datetime, listings: Mapping[str, Listing[Any]]) -> PullFacts:
    """Return the facts of one pull request; ``listings`` by the names of :class:`PullFacts`."""
    head, base = node["headRef"] or {}, node["baseRef"] or {}
    head_repository = node["headRepository"]
    return PullFacts(
        profile=profile,
        observed_at=observed_at,
        node_id=node["id"],
        forge_id=int(node["fullDatabaseId"]),
        number=node["number"],
        url=node["url"],
        title=node["title"],
        state=PullState(node["state"].lower()),
        is_draft=node["isDraft"],
        merged_at=instant(node["mergedAt"]),
        closed_at=instant(node["closedAt"]),
        updated_at=known_instant(node["updatedAt"]),
        head_ref=node["headRefName"],
        head_sha=(head.get("target") or {}).get("oid"),
        head_ref_oid=node["headRefOid"],
        head_repository=None if head_repository is None else repository(head_repository),
        is_cross_repository=node["isCrossRepository"],
        maintainer_can_modify=node["maintainerCanModify"],
        base_ref=node["baseRefName"],
        base_sha=(base.get("target") or {}).get("oid"),
        repository=repository(node["repository"]),
        merge_commit_sha=(node["mergeCommit"] or {}).get("oid"),
        author=author(node["author"]),
        association=node.get("authorAssociation", "NONE"),
        body=node.get("body"),
        review_decision=node.get("reviewDecision"),
        mergeable=node.get("mergeable"),
        merge_state_status=node.get("mergeStateStatus"),
        merge_queue_enabled=node.get("isMergeQueueEnabled"),
        in_merge_queue=node.get("isInMergeQueue"),
        queue_entry=queue_entry(node.get("mergeQueueEntry")),
        **listings,
    )
