"""References that name nothing to drive, and requests that no program should send, against a real `serve`."""

from __future__ import annotations

import json
import shutil
import socket
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.process.system import System

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
MANY = 8 * 1024 * 1024  # bytes


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A control plane beside a forge with one issue, one closed and one open pull request."""
    with System(tmp_path_factory.mktemp("references")) as running:

        def verb(word: str, **said: Any) -> None:
            running.simulator(f"verbs/{word}", said)

        verb("add_repository", name="acme/shop", files={"cart.py": "total = 0\n"})
        verb("add_issue", repo="acme/shop", title="The total is wrong")
        verb("add_pull", repo="acme/shop", branch="feat/closed", files={"cart.py": "total = 1\n"})
        verb("add_pull", repo="acme/shop", branch="feat/open", files={"cart.py": "total = 2\n"})
        verb("close", pull="acme/shop#2")
        running.serve()
        yield running


def refused(answer: requests.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) - {"details"} == {"code", "message", "retryable"}
    return error


@pytest.mark.parametrize(
    ("reference", "status", "code", "told"),
    [
        ("acme/shop#1", 404, "unknown_pull_request", "is an issue, not a pull request"),
        ("acme/shop#2", 400, "pull_request_closed", "reopen it"),
        ("acme/shop#99", 404, "unknown_pull_request", "acme/shop#99"),
        ("acme/nothing#1", 404, "unknown_pull_request", "acme/nothing#1"),
        ("nobody/shop#1", 404, "unknown_pull_request", "nobody/shop#1"),
        ("acme/shop", 400, "bad_reference", "owner/repo#12"),
        ("acme/shop#0", 400, "bad_reference", "#0"),
        ("acme/shop#99999999999", 400, "bad_reference", "99999999999"),
        ("../shop#1", 400, "bad_reference", ".."),
        ("https://elsewhere.example.org/acme/shop/pull/3", 400, "bad_reference", "elsewhere.example.org"),
        ("", 400, "bad_reference", "owner/repo#12"),
    ],
)
def test_a_reference_that_names_no_open_pull_request_is_refused_and_stores_nothing(
    system: System, reference: str, status: int, code: str, told: str
) -> None:
    error = refused(system.call("POST", "/api/v1/pull-requests", {"pullRequest": reference}), status)
    assert error["code"] == code
    assert told in error["message"]
    assert system.get("/api/v1/pull-requests")["items"] == []
    assert system.get("/api/v1/runs")["items"] == []


@pytest.mark.parametrize("reference", ["acme/shop#1", "acme/shop#2", "acme/shop#99", "acme/shop"])
def test_the_command_says_the_same_in_one_line(system: System, reference: str) -> None:
    done = system.manage("submit", reference)
    assert (done.returncode, done.stdout) == (1, "")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("factory: preparing ")]
    assert len(lines) == 1
    assert "manage.py" in lines[0]


def test_a_forge_that_does_not_answer_is_503_with_a_time_to_come_back(system: System) -> None:
    system.fault("fail_next", op="graphql:Identity", status=502, times=9)
    error = refused(system.call("POST", "/api/v1/pull-requests", {"pullRequest": "acme/shop#3"}), 503)
    system.simulator("faults", {"cease": "fail_next"})
    assert (error["code"], error["retryable"]) == ("forge_unavailable", True)
    assert system.fault_struck("fail_next") >= 1
    assert system.get("/api/v1/pull-requests")["items"] == []


def test_a_role_is_asked_for_and_a_revoked_token_is_worth_nothing(system: System) -> None:
    """CO-H8: a viewer's token changes nothing."""
    issued = system.manage("tokens", "issue", "looker", "--role", "viewer")
    token = issued.stdout.split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{system.url}/api/v1/pull-requests"
    assert requests.get(address, headers=headers, timeout=15).status_code == 200
    body = {"pullRequest": "acme/shop#3"}
    error = refused(requests.post(address, json=body, headers=headers, timeout=15), 403)
    assert error["message"] == "Submitting a pull request needs the role operator. You are viewer."
    assert system.manage("tokens", "revoke", "looker").returncode == 0
    assert refused(requests.get(address, headers=headers, timeout=15), 401)["code"] == "unauthenticated"
    again = system.manage("tokens", "revoke", "nobody")
    assert "manage.py tokens list" in again.stderr
    assert token not in system.manage("tokens", "list").stdout
    assert not [path for path in system.folder.glob("*.log") if token in path.read_text(errors="replace")]


def test_a_huge_body_gets_its_answer_over_a_real_connection(system: System) -> None:
    headers = {"Authorization": f"Bearer {system.token}", "Content-Type": "application/json"}
    address = f"{system.url}/api/v1/pull-requests"
    error = refused(requests.post(address, data=b"x" * MANY, headers=headers, timeout=60), 413)
    assert error["code"] == "body_too_large"
    assert requests.get(f"{system.url}/health", timeout=15).json()["status"] == "ok"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /api/v1/runs\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/v1/runs?state=%00%ff%ed%a0%80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
        b"GET /api/v1/runs HTTP/1.1\r\nHost: evil.example.org\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /api/v1/pull-requests HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/v1/pull-requests HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: many\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
    ids=["path", "query", "token", "host", "long", "negative", "word", "nonsense"],
)
def test_bytes_that_are_no_proper_request_end_in_an_answer_below_500(system: System, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", system.port), timeout=15) as wire:
        wire.sendall(sent)
        status = int(wire.recv(4096).split()[1])
    assert 400 <= status < 500
    assert "Traceback" not in (system.folder / "serve.log").read_text(errors="replace")


def test_the_first_admin_file_is_for_its_owner_alone(system: System) -> None:
    path = system.home / "admin.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(json.loads(path.read_text())) == ["password", "token", "url", "username"]
