"""What a review agent claims about its pull request and its push, against what it was given and the worker saw."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.queue.attempts.semantics import Mismatch

CONTRACT = "factory.pr-review/v1"
PULL_URL = re.compile(r"/pull/(\d{1,10})(?:[/?#]|$)")
SHA = re.compile(r"[0-9a-f]{7,40}")


def review_claims(variables: Mapping[str, Any], artifact: Any, evidence: Mapping[str, Any]) -> Mismatch | None:
    """The first claim that does not hold; nothing has to be claimed, and a claim of a wrong type is none.

    A review that names another pull request was made of another one; a commit that nobody can see was not made.
    """
    claims = artifact if isinstance(artifact, Mapping) else {}
    workspace = evidence.get("workspace")
    seen = workspace if isinstance(workspace, Mapping) else {}
    return _other_pull(claims, variables) or _other_commit(claims, seen) or _other_push(claims, seen)


def _other_pull(claims: Mapping[str, Any], variables: Mapping[str, Any]) -> Mismatch | None:
    key, number, url = claims.get("prKey"), claims.get("prNumber"), claims.get("prUrl")
    if isinstance(key, str) and key.lower() != str(variables.get("prKey", "")).lower():
        return Mismatch("prKey", key, variables.get("prKey"))
    if isinstance(number, int) and not isinstance(number, bool) and number != variables.get("prNumber"):
        return Mismatch("prNumber", number, variables.get("prNumber"))
    named = PULL_URL.search(url) if isinstance(url, str) else None
    if named is not None and int(named[1]) != variables.get("prNumber"):
        return Mismatch("prUrl", url, variables.get("prNumber"))
    return None


def _other_commit(claims: Mapping[str, Any], seen: Mapping[str, Any]) -> Mismatch | None:
    claimed = claims.get("headSha")
    found = [sha for sha in (seen.get("headSha"), seen.get("remoteSha")) if isinstance(sha, str)]
    if not isinstance(claimed, str) or not SHA.fullmatch(claimed.lower()) or not found:
        return None
    return None if any(sha.startswith(claimed.lower()) for sha in found) else Mismatch("headSha", claimed, found[0])


def _other_push(claims: Mapping[str, Any], seen: Mapping[str, Any]) -> Mismatch | None:
    pushed, commits = claims.get("pushed"), claims.get("commits")
    if isinstance(pushed, bool) and isinstance(seen.get("pushed"), bool) and pushed is not seen["pushed"]:
        return Mismatch("pushed", pushed, seen["pushed"])
    counted = seen.get("commits")
    is_count = isinstance(commits, int) and not isinstance(commits, bool)
    if is_count and isinstance(counted, int) and commits != counted:
        return Mismatch("commits", commits, counted)
    return None
