"""Selections of single things; every list asks for its count and its page, so that a short list shows itself."""

PAGE = "totalCount pageInfo{hasNextPage hasPreviousPage startCursor endCursor}"
RATE = "rateLimit{cost remaining resetAt}"
REPOSITORY = "databaseId nameWithOwner"

BASE = (
    "id fullDatabaseId number url title state isDraft mergedAt closedAt updatedAt headRefName headRefOid "
    f"headRef{{target{{oid}}}} headRepository{{{REPOSITORY} url}} isCrossRepository maintainerCanModify "
    f"baseRefName baseRef{{target{{oid}}}} repository{{{REPOSITORY}}} mergeCommit{{oid}} author{{__typename login}} "
    "authorAssociation"
)
HELD = "body reviewDecision"
MERGE = f"{HELD} mergeable mergeStateStatus"
QUEUE = "isMergeQueueEnabled isInMergeQueue mergeQueueEntry{id position state enqueuedAt}"

REVIEW_WITHOUT_BODY = (
    "id fullDatabaseId state submittedAt authorAssociation author{__typename login} commit{oid committedDate}"
)
REVIEW = f"{REVIEW_WITHOUT_BODY} body"
COMMENT = "id fullDatabaseId url body createdAt authorAssociation author{__typename login}"
THREAD = f"id isResolved isOutdated path line originalLine comments(first: 50){{{PAGE} nodes{{{COMMENT}}}}}"
CLOSING_ISSUE = f"id number title body repository{{{REPOSITORY}}} authorAssociation author{{__typename login}}"
COMMIT = "id commit{oid message committedDate}"


def requested_reviewer(*, bots: bool) -> str:
    """Who is asked; an older server does not know bots among them."""
    bot = " ...on Bot{login}" if bots else ""
    return (
        f"requestedReviewer{{__typename ...on User{{login}}{bot} ...on Mannequin{{login}} ...on Team{{combinedSlug}}}}"
    )


def timeline(*, bots: bool) -> str:
    """The four events that say what else happened to a pull request."""
    return (
        "__typename "
        "...on HeadRefForcePushedEvent{id createdAt actor{login} beforeCommit{oid} afterCommit{oid}} "
        f"...on ReviewRequestedEvent{{id createdAt actor{{login}} {requested_reviewer(bots=bots)}}} "
        "...on ClosedEvent{id createdAt actor{login}} "
        "...on RemovedFromMergeQueueEvent{id createdAt actor{login} reason}"
    )


def context(required_argument: str) -> str:
    """A check of either kind; whether it is required can only be asked for one pull request."""
    required = f"isRequired({required_argument})"
    return (
        "__typename "
        "...on CheckRun{id databaseId name status conclusion startedAt completedAt detailsUrl "
        "checkSuite{databaseId app{databaseId slug} workflowRun{databaseId event runNumber workflow{databaseId name}}} "
        f"{required}}} "
        f"...on StatusContext{{id context state createdAt targetUrl creator{{login}} {required}}}"
    )
