"""The simulated GitHub with one repository and one open pull request, and the product's client to it."""

import json
import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import requests

from convergence.forge.client import ForgeClient
from convergence.forge.config import ForgeConfig, TimeLimits
from convergence.forge.facts import Profile, PullFacts, PullRef
from convergence.forge.governor.pace import Pace
from convergence.forge.reading import read_pull
from convergence.forge.writes.contract import Observed
from convergence.forge.writes.perform import perform
from convergence.reviewers.copilot import Copilot
from fixtures.simulator import Simulator
from runs.contract.tokens import TokenSource
from tests.contracts import graphql, rest

API = "/api/v3"
BY_NUMBER = re.compile(r"^/repositories/\d+")  # where renamed repositories redirect to


class World:
    """``ref`` and ``target`` name the pull request for reading and for writing."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self.verbs: Any = sim.verbs
        self.faults: Any = sim.faults
        self.log: Any = sim.log
        self.repo = self.verbs.add_repository("acme/shop", {"app.py": "x = 1\n"})
        self.pull = self.verbs.add_pull("acme/shop", "feat/total", files={"app.py": "x = 2\n"}, title="Sum the list")
        self.clients: list[ForgeClient] = []
        self.client = self.new_client()
        self.ref = PullRef("acme", "shop", self.pull.number, self.pull.node_id)
        self.target = {"owner": "acme", "name": "shop", "number": self.pull.number, "node_id": self.pull.node_id}

    def new_client(self, limits: TimeLimits | None = None) -> ForgeClient:
        """A client as another process would have it; its pauses are not slept."""
        client = ForgeClient(
            ForgeConfig(
                api_url=self.sim.api_url,
                graphql_url=self.sim.graphql_url,
                server_url=self.sim.server_url,
                tokens=TokenSource(self.sim.server_url, {"GITHUB_TOKEN": self.sim.token}),
                version="1.2.3",
                limits=limits or TimeLimits(),
                pace=Pace(apart=0.0),
            ),
            now=lambda: datetime.now(UTC),
            guard=lambda: None,
            sleep=lambda _seconds: None,
        )
        self.clients.append(client)
        client._transport._own_session().hooks["response"].append(hold_to_contract)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def read(self, profile: Profile) -> PullFacts:
        return read_pull(self.client, profile, self.ref)

    def thread(self) -> Any:
        """A thread by the reviewer."""
        return self.verbs.open_thread(self.pull, "app.py", 1, "Name it.", by="copilot-pull-request-reviewer")

    def request_arguments(self) -> dict[str, Any]:
        write = Copilot().request(self.read(Profile.WATCH), 1)
        assert write is not None
        return dict(write.arguments)

    def perform(self, operation: str, arguments: dict[str, Any], **how: Any) -> Observed:
        """One call; ``key`` is ``k`` unless the test says another."""
        how.setdefault("earlier_try", False)
        return perform(self.client, operation, arguments, how.pop("key", "k"), **how)

    def finish(self, operation: str, arguments: dict[str, Any]) -> list[Observed]:
        """Call until the outcome is final, with the memory of the call before, as the outbox does."""
        seen = [self.perform(operation, arguments)]
        while not seen[-1].final:
            assert len(seen) < 20
            memory = json.loads(json.dumps(dict(seen[-1].memory)))
            seen.append(self.perform(operation, arguments, earlier_try=True, memory=memory))
        return seen


@cache
def fits(document: str) -> bool:
    """Whether GitHub accepts the document; each text is checked once."""
    return graphql.errors(document) == []


def hold_to_contract(answer: requests.Response, *_: Any, **__: Any) -> None:
    """Hold a request and its answer to GitHub's published contract."""
    sent = answer.request
    assert sent.method is not None
    body: Any = json.loads(sent.body) if sent.body else None
    path = sent.path_url
    if path.endswith("/graphql"):
        assert fits(body["query"])
        return
    path = BY_NUMBER.sub("/repos/acme/shop", path.removeprefix(API))
    rest.validate_request(sent.method, path, body)
    rest.validate_answer(sent.method, path, answer.status_code, answer.json() if answer.content else None)
