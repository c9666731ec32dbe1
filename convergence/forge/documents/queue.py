"""Documents of the merge queue, and of marking a draft ready."""

from convergence.forge.documents import fields

ENQUEUE = (
    "mutation Enqueue($pull: ID!, $head: GitObjectID!){"
    "enqueuePullRequest(input: {pullRequestId: $pull, expectedHeadOid: $head}){clientMutationId}}"
)
DEQUEUE = "mutation Dequeue($pull: ID!){dequeuePullRequest(input: {id: $pull}){clientMutationId}}"
MARK_READY = (
    "mutation MarkReady($pull: ID!){markPullRequestReadyForReview(input: {pullRequestId: $pull}){clientMutationId}}"
)
REMOVALS = (
    f"query Removals($id: ID!){{{fields.RATE} p0: node(id: $id){{__typename ...on PullRequest{{"
    f"timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]){{{fields.PAGE} nodes{{"
    "__typename ...on RemovedFromMergeQueueEvent{id createdAt actor{login} reason beforeCommit{oid}}}}}}}"
)
