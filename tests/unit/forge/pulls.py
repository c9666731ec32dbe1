"""GitHub's JSON for pull requests, as small as the documents allow, and a forge that serves them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.unit.forge.stub import Reply, Request

DIALECT = {
    "pull": {"fields": [{"name": name} for name in ("statusCheckRollup", "isMergeQueueEnabled", "isInMergeQueue")]},
    "reviewer": {"possibleTypes": [{"name": "Bot"}, {"name": "User"}]},
    "mutation": {"fields": []},
}


def pull(node_id: str, **changed: Any) -> dict[str, Any]:
    number = int(re.sub(r"\D", "", node_id) or 1)
    base = {
        "__typename": "PullRequest",
        "id": node_id,
        "fullDatabaseId": str(1000 + number),
        "number": number,
        "url": f"https://forge.test/acme/shop/pull/{number}",
        "title": "Sum the list",
        "state": "OPEN",
        "isDraft": False,
        "mergedAt": None,
        "closedAt": None,
        "updatedAt": "2026-03-01T10:00:00Z",
        "headRefName": "feat/total",
        "headRefOid": "a" * 40,
        "headRef": {"target": {"oid": "a" * 40}},
        "headRepository": {"databaseId": 7, "nameWithOwner": "acme/shop", "url": "https://forge.test/acme/shop"},
        "isCrossRepository": False,
        "maintainerCanModify": True,
        "baseRefName": "main",
        "baseRef": {"target": {"oid": "b" * 40}},
        "repository": {"databaseId": 7, "nameWithOwner": "acme/shop"},
        "mergeCommit": None,
        "author": {"__typename": "User", "login": "ada"},
    }
    return {**base, **changed}


def page(nodes: Sequence[Any], *, total: int | None = None, after: str | None = None, before: str | None = None) -> Any:
    """A page of a list; ``after`` and ``before`` are the cursors of what follows and precedes it."""
    return {
        "totalCount": len(nodes) if total is None else total,
        "pageInfo": {
            "hasNextPage": after is not None,
            "hasPreviousPage": before is not None,
            "startCursor": before,
            "endCursor": after,
        },
        "nodes": list(nodes),
    }


def review(number: int, **changed: Any) -> dict[str, Any]:
    base = {
        "id": f"R{number}",
        "fullDatabaseId": str(number),
        "state": "COMMENTED",
        "submittedAt": "2026-03-01T10:00:00Z",
        "body": "",
        "authorAssociation": "NONE",
        "author": {"__typename": "Bot", "login": "copilot-pull-request-reviewer"},
        "commit": {"oid": "a" * 40, "committedDate": "2026-03-01T09:00:00Z"},
    }
    return {**base, **changed}


def thread(number: int, comments: Any = None) -> dict[str, Any]:
    return {
        "id": f"T{number}",
        "isResolved": False,
        "isOutdated": False,
        "path": "app.py",
        "line": 1,
        "originalLine": 1,
        "comments": comments or page([comment(number)]),
    }


def comment(number: int, body: str = "Name the argument.") -> dict[str, Any]:
    return {
        "id": f"C{number}",
        "fullDatabaseId": str(number),
        "url": "https://forge.test/c",
        "body": body,
        "createdAt": "2026-03-01T10:00:00Z",
        "authorAssociation": "NONE",
        "author": {"__typename": "Bot", "login": "copilot-pull-request-reviewer"},
    }


def check(number: int, conclusion: str = "SUCCESS") -> dict[str, Any]:
    return {
        "__typename": "CheckRun",
        "id": f"K{number}",
        "databaseId": number,
        "name": f"test-{number}",
        "status": "COMPLETED",
        "conclusion": conclusion,
        "startedAt": "2026-03-01T10:00:00Z",
        "completedAt": "2026-03-01T10:01:00Z",
        "detailsUrl": None,
        "checkSuite": {"databaseId": 1, "app": {"databaseId": 2, "slug": "ci"}, "workflowRun": None},
        "isRequired": True,
    }


class Forge:
    """Serves documents of the batched reading; ``aliases`` notes how many pull requests each one asked for."""

    def __init__(self, node: Callable[[str], Any], *, pages: Callable[[Mapping[str, Any], str], Any] | None = None):
        self.node = node
        self.pages = pages
        self.aliases: list[int] = []
        self.followed = 0
        self.gives_up_over: int | None = None

    def __call__(self, request: Request) -> Reply:
        text, variables = request.body["query"], request.body["variables"]
        name = re.match(r"\w+ (\w+)", text)
        assert name is not None
        if name[1] == "Dialect":
            return Reply(body={"data": DIALECT})
        if name[1] != "Pulls":
            self.followed += 1
            assert self.pages is not None, text
            return Reply(body={"data": {"p0": self.pages(variables, text)}})
        self.aliases.append(len(variables))
        if self.gives_up_over is not None and len(variables) > self.gives_up_over:
            return Reply(status=502)
        found, errors = {}, []
        for key, node_id in variables.items():
            alias = f"p{key[1:]}"
            answer = self.node(node_id)
            if isinstance(answer, str):
                errors.append({"type": answer, "path": [alias], "message": f"no {node_id}"})
                answer = None
            found[alias] = answer
        return Reply(body={"data": found, "errors": errors} if errors else {"data": found})
