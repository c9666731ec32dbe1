"""A strict world for each test, a client that holds every REST answer against GitHub's contract, and real git."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from fixtures.simulator import ManualClock, Simulator
from tests.contracts.rest import validate_answer, validate_request


@dataclass
class Client:
    """Speaks to the simulator as GitHub's clients do."""

    sim: Simulator
    seen: set[tuple[str, str]] = field(default_factory=set)

    def rest(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        """Send a request; request and answer must be of GitHub's contract."""
        validate_request(method, path, body)
        answer = requests.request(
            method,
            self.sim.api_url + path,
            json=body,
            timeout=20,
            allow_redirects=False,
            headers={"Authorization": f"Bearer {self.sim.token}", "User-Agent": "test", **headers},
        )
        validate_answer(method, path, answer.status_code, answer.json() if answer.content else None)
        return answer

    def graphql(self, document: str, **variables: Any) -> Any:
        """Send a document and return the answer's body."""
        answer = requests.post(
            self.sim.graphql_url,
            json={"query": document, "variables": variables},
            timeout=20,
            headers={"Authorization": f"Bearer {self.sim.token}", "User-Agent": "test"},
        )
        return answer.json()


@dataclass
class Git:
    """Real git, with the token behind a credential helper or without any credential."""

    folder: Path
    token: str | None

    def __call__(self, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "TOKEN": self.token or "",
        }
        helper = "!f() { echo username=x-access-token; echo password=$TOKEN; }; f" if self.token else ""
        env |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": helper}
        return subprocess.run(["git", *args], cwd=self.folder, env=env, capture_output=True, text=True, check=check)

    def head(self) -> str:
        """The commit that is checked out."""
        return self("rev-parse", "HEAD").stdout.strip()

    def commit(self, path: str, text: str) -> str:
        """Write a file and commit it."""
        (self.folder / path).write_text(text)
        self("add", path)
        self("commit", "-q", "-m", f"Change {path}")
        return self.head()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def sim(tmp_path: Path, clock: ManualClock) -> Iterator[Simulator]:
    with Simulator(tmp_path / "world", clock) as world:
        yield world


@pytest.fixture
def client(sim: Simulator) -> Client:
    return Client(sim)


@pytest.fixture
def shop(sim: Simulator) -> Any:
    """acme/shop with one file."""
    return sim.verbs.add_repository("acme/shop", {"app.py": "def total(xs):\n    return 0\n"})


@pytest.fixture
def pull(sim: Simulator, shop: Any) -> Any:
    """A pull request that merges cleanly."""
    return sim.verbs.add_pull(
        shop, "feat/total", title="Sum the list", files={"app.py": "def total(xs):\n    return 1\n"}
    )


def settled(client: Client, path: str) -> dict[str, Any]:
    """A pull request read again after the read that makes GitHub compute it."""
    client.rest("GET", path)
    found: dict[str, Any] = json.loads(client.rest("GET", path).content)
    return found
