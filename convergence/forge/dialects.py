"""What this server's schema offers, found by one introspection a day and host."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from convergence.forge.client import ForgeClient
from convergence.forge.documents.dialect import INTROSPECTION, Dialect
from runs.contract.errors import Permanent

BELIEVED = timedelta(days=1)  # a server is rarely upgraded, and an upgrade may wait a day


def dialect_of(client: ForgeClient) -> Dialect:
    """Return the server's dialect; a server that refuses introspection is taken to serve the published schema."""
    known, now = client.learnt.dialect, client.now()
    if known is not None and now - known[1] < BELIEVED:
        return known[0]
    try:
        found = _read(client.query(INTROSPECTION, {}).data)
    except Permanent as error:
        if error.code != "forge_query_rejected":
            raise
        found = Dialect()
    client.learnt.dialect = (found, now)
    return found


def _read(answer: Mapping[str, Any]) -> Dialect:
    pull = _names(answer.get("pull"), "fields")
    reviewers = _names(answer.get("reviewer"), "possibleTypes")
    mutations = _names(answer.get("mutation"), "fields")
    return Dialect(
        rollup_on_pull="statusCheckRollup" in pull,
        bot_reviewers="Bot" in reviewers,
        merge_queue={"isMergeQueueEnabled", "isInMergeQueue", "mergeQueueEntry"} <= pull,
        request_by_login="requestReviewsByLogin" in mutations,
    )


def _names(described: Mapping[str, Any] | None, part: str) -> set[str]:
    return {item["name"] for item in (described or {}).get(part) or ()}
