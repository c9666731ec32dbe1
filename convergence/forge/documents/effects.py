"""Documents of the writes, and of what is read to see whether a write has happened."""

from convergence.forge.documents import fields
from convergence.forge.documents.dialect import Dialect

REPLY = (
    "mutation Reply($thread: ID!, $body: String!){"
    "addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $thread, body: $body}){comment{id url}}}"
)
RESOLVE = "mutation Resolve($thread: ID!){resolveReviewThread(input: {threadId: $thread}){thread{id isResolved}}}"
REQUEST_BY_LOGIN = (
    "mutation RequestByLogin($pull: ID!, $logins: [String!]!){"
    "requestReviewsByLogin(input: {pullRequestId: $pull, botLogins: $logins, union: true}){clientMutationId}}"
)
THREAD_STATE = (
    f"query ThreadState($id: ID!){{{fields.RATE} p0: node(id: $id){{__typename ...on PullRequestReviewThread{{"
    f"id isResolved comments(last: 100){{{fields.PAGE} nodes{{{fields.COMMENT}}}}}}}}}}}"
)


def review_requests(dialect: Dialect) -> str:
    """Return the document that shows who is asked for a review of ``$id``, now and in the newest requests."""
    reviewer = fields.requested_reviewer(bots=dialect.bot_reviewers)
    return (
        f"query Requests($id: ID!){{{fields.RATE} p0: node(id: $id){{__typename ...on PullRequest{{"
        f"reviewRequests(first: 100){{{fields.PAGE} nodes{{id {reviewer}}}}} "
        f"timelineItems(last: 20, itemTypes: [REVIEW_REQUESTED_EVENT]){{{fields.PAGE} nodes{{"
        f"__typename ...on ReviewRequestedEvent{{id createdAt actor{{login}} {reviewer}}}}}}}"
        "}}}"
    )
