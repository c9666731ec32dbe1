"""Ask for a review, and believe it only when the reviewer is pending or the timeline shows a newer request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge import parsing
from convergence.forge.client import ForgeClient
from convergence.forge.dialects import dialect_of
from convergence.forge.documents.effects import REQUEST_BY_LOGIN, review_requests
from convergence.forge.facts import ReviewRequest
from convergence.forge.wire.answers import alias_error
from convergence.forge.writes.contract import Observed, Target, text
from runs.contract.errors import Invalid, Transient

REST, BY_LOGIN, TEAM = "rest", "by_login", "team"
LOOKS_EACH_WAY = 2  # GitHub accepts some spellings and does nothing: seen nowhere twice, the next way is tried


@dataclass(frozen=True, slots=True)
class RequestReview:
    """``login`` is the spelling that registers a request, ``spellings`` all those under which it may show."""

    target: Target
    login: str
    spellings: frozenset[str]
    ways: tuple[str, ...]

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - a request carries no marker
        """Return the write of stored arguments."""
        login = text(arguments, "login")
        ways = tuple(arguments.get("ways") or (REST,))
        if not set(ways) <= {REST, BY_LOGIN, TEAM}:
            raise Invalid("invalid_effect", f"unknown ways to request a review: {ways}", details={"field": "ways"})
        spellings = frozenset(str(word).lower() for word in arguments.get("spellings") or ()) | {login.lower()}
        return cls(target=Target.from_json(arguments.get("pull")), login=login, spellings=spellings, ways=ways)

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:
        """``already_pending`` before a try, ``requested`` after one; the events known before it do not count."""
        dialect = dialect_of(client)
        answer = client.query(review_requests(dialect), {"id": self.target.node_id})
        pull = answer.data.get("p0")
        if pull is None or answer.errors:
            raise alias_error(answer.errors[0]) if answer.errors else _unread()
        asked = [parsing.review_request(node) for node in pull["reviewRequests"]["nodes"] if node]
        if not dialect.bot_reviewers:
            asked += self._asked_by_rest(client)
        if any(self._is_me(request) for request in asked):
            return Observed("requested" if sent else "already_pending", {"shown": "pending", **self._way(memory)})
        events = [parsing.timeline_event(node) for node in pull["timelineItems"]["nodes"] if node]
        mine = [event.node_id for event in events if event.reviewer and self._is_me(event.reviewer)]
        if not sent:
            memory["events"] = mine
            return None
        if "events" in memory and set(mine) - set(memory["events"]):
            return Observed("requested", {"shown": "timeline", **self._way(memory)})
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:
        """Send by the way that is due; a 422 says that this reviewer cannot be requested here."""
        way = self.ways[min(int(memory.get("way", 0)), len(self.ways) - 1)]
        if way == BY_LOGIN and not dialect_of(client).request_by_login:
            return Observed("ignored", {"reason": "no_other_way"})
        try:
            if way in (REST, TEAM):
                path = f"{self.target.pull_path}/requested_reviewers"
                slug = self.login.rpartition("/")[2]
                named = {"team_reviewers": [slug]} if way == TEAM else {"reviewers": [self.login]}
                client.rest("POST", path, json=named)
            else:
                answer = client.mutate(
                    REQUEST_BY_LOGIN, {"pull": self.target.node_id, "logins": [self.login]}, creates=True
                )
                if answer.errors:
                    raise alias_error(answer.errors[0])
        except Invalid as error:
            return Observed("unavailable", {"message": error.message, "way": way})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:
        """After two looks the next way; after the last way ``ignored``."""
        if looks < LOOKS_EACH_WAY:
            return None
        way = int(memory.get("way", 0)) + 1
        if way >= len(self.ways):
            return Observed("ignored", {"ways": list(self.ways)})
        memory.update({"way": way, "accepted": False, "looks": 0})
        return Observed("unseen", again_after=0.0, memory=memory)

    def _asked_by_rest(self, client: ForgeClient) -> list[ReviewRequest]:
        """Return the pending reviewers of an older server, whose queries hide bots."""
        users = client.rest("GET", f"{self.target.pull_path}/requested_reviewers").body["users"]
        return [ReviewRequest(login=user["login"], typename=user.get("type", "User")) for user in users]

    def _way(self, memory: Mapping[str, Any]) -> dict[str, str]:
        return {"way": self.ways[min(int(memory.get("way", 0)), len(self.ways) - 1)]}

    def _is_me(self, request: ReviewRequest) -> bool:
        return request.login is not None and request.login.lower() in self.spellings


def _unread() -> Transient:
    return Transient("forge_unread", "GitHub did not show who is asked for a review")
