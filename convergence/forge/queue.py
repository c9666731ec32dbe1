"""What the forge tells of its merge queue beside the profiles, read singly when an entry is gone."""

from dataclasses import dataclass

from convergence.forge.client import ForgeClient
from convergence.forge.documents.queue import REMOVALS
from convergence.forge.facts import TimelineEvent
from convergence.forge.paging import rest_list
from convergence.forge.parsing import timeline_event
from convergence.forge.wire.answers import alias_error
from runs.contract.errors import Transient


@dataclass(frozen=True, slots=True)
class CommitCheck:
    """A check run of one commit, as REST lists it; ``conclusion`` is blank while it runs."""

    name: str
    producer: str
    conclusion: str
    url: str
    run_id: int


def last_removal(client: ForgeClient, node_id: str) -> TimelineEvent | None:
    """Return the newest removal from the merge queue; None when the timeline holds none."""
    answer = client.query(REMOVALS, {"id": node_id})
    if answer.errors:
        raise alias_error(answer.errors[0])
    node = answer.data.get("p0")
    if not node or "timelineItems" not in node:
        raise Transient("forge_unread", "GitHub did not show the timeline")
    found = [item for item in node["timelineItems"]["nodes"] if item]
    return timeline_event(found[-1]) if found else None


def commit_checks(client: ForgeClient, owner: str, name: str, sha: str) -> tuple[CommitCheck, ...]:
    """Return the newest check runs of a commit, such as the one that the merge queue tested."""
    found = rest_list(client, f"repos/{owner}/{name}/commits/{sha}/check-runs", key="check_runs")
    return tuple(
        CommitCheck(
            name=item["name"],
            producer=(item.get("app") or {}).get("slug") or "",
            conclusion=item.get("conclusion") or "",
            url=item.get("details_url") or item.get("html_url") or "",
            run_id=item["id"],
        )
        for item in found.items
    )
