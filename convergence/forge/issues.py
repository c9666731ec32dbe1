"""Reading one issue."""

from convergence.forge.client import ForgeClient
from convergence.forge.facts import Author, ClosingIssue, RepositoryRef


def issue(client: ForgeClient, owner: str, name: str, number: int) -> ClosingIssue | None:
    """Return the issue of this number, None for a pull request's; raises ``NotFound`` where neither is shown."""
    body = client.rest("GET", f"repos/{owner}/{name}/issues/{number}").body
    if body.get("pull_request"):
        return None
    who = body.get("user")
    return ClosingIssue(
        node_id=body["node_id"],
        number=body["number"],
        title=body["title"],
        body=body.get("body") or "",
        repository=RepositoryRef(forge_id=0, name_with_owner=f"{owner}/{name}"),
        author=Author(login=who["login"], typename=who.get("type", "User")) if who else None,
        association=body.get("author_association", "NONE"),
    )
