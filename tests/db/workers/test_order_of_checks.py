import json
import re
from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.wire import check_answer
from tests.db.workers.jobs import Job
from tests.db.workers.wire import HELLO, Worker, code, worker_on
from workers.models import CredentialToken
from workers.models import Worker as Row
from workers.services.credentials import credential_revoke
from workers.urls import urlpatterns
from workers.wire import limits

pytestmark = pytest.mark.django_db


def test_hello_registers_the_boot_and_answers_with_the_rules(worker):
    response = worker.hello()
    assert response.status_code == 200
    answer = response.json()
    check_answer("hello", answer)
    assert (answer["workerId"], answer["node"]) == (worker.worker_id, "lab")
    assert (answer["heartbeatEveryMs"], answer["livenessSeconds"], answer["maxWaitSeconds"]) == (15000, 90, 25)
    row = Row.objects.get()
    assert (row.worker_id, row.node, row.host, row.pid, row.slot) == (worker.worker_id, "lab", "build-7", 4711, 2)


def test_each_check_comes_before_the_next(monkeypatch):
    """The request is wrong in every way; what is mended goes, and the next check speaks."""
    worker = worker_on("lab")
    good = worker.secret
    worker.client.defaults["REMOTE_ADDR"] = "198.51.100.7"
    too_large = b"{" + b" " * (64 * 1024)
    path = "/worker/v1/hello"
    worker.boot, worker.secret = "x", ""

    assert code(worker.post(path, too_large)) == "tls_required"
    worker.over_tls = True
    assert code(worker.post(path, too_large)) == "credential_missing"
    worker.secret = good
    stopped_clock = limits.RequestRate(clock=lambda: 0.0)
    monkeypatch.setattr(limits, "request_rate", stopped_clock)
    credential = CredentialToken.objects.get().credential_id
    for _ in range(int(limits.BURST)):
        stopped_clock.take(credential)
    assert code(worker.post(path, too_large)) == "rate_limited"
    stopped_clock.clear()
    assert code(worker.post(path, too_large)) == "too_large"
    assert code(worker.post(path, b"{")) == "malformed"
    assert code(worker.post(path, {"protocolVersion": 2}, X_Worker_Id="other.x")) == "protocol_unsupported"
    assert code(worker.post(path, {"protocolVersion": 1}, X_Worker_Id="other.x")) == "malformed"
    assert code(worker.post(path, HELLO, X_Worker_Id="other.x")) == "wrong_node"
    assert code(worker.post(path, HELLO)) == "malformed"
    worker.boot = Worker.boot
    assert worker.post(path, HELLO).status_code == 200


def test_every_credential_error_has_its_code(worker):
    row = CredentialToken.objects.get()
    secret = worker.secret
    for bad in ("fwk_" + "a" * 43, "nonsense"):
        worker.secret = bad
        response = worker.hello()
        assert (response.status_code, code(response)) == (401, "credential_unknown")
    worker.secret = ""
    response = worker.hello()
    assert (response.status_code, code(response)) == (401, "credential_missing")
    worker.secret = secret
    row.expires_at = now() - timedelta(seconds=1)
    row.save()
    response = worker.hello()
    assert (response.status_code, code(response)) == (401, "credential_expired")
    assert not Row.objects.exists()


def test_a_revoked_token_is_dead_with_the_next_request(worker):
    """WP-H1 every endpoint asks for a valid token, and a revoked one is refused from the next request on."""
    assert worker.hello().status_code == 200
    credential_revoke(node="lab", prefix=None, actor="operator:test")
    seen = Row.objects.get().last_seen_at
    response = worker.hello(host="elsewhere")
    assert (response.status_code, code(response)) == (401, "credential_revoked")
    assert (Row.objects.get().host, Row.objects.get().last_seen_at) == ("build-7", seen)


def every_path():
    values = {"run_id": "run_00000000000000000000000000", "hex_digits": "0" * 64}
    for entry in urlpatterns:
        route = str(entry.pattern).lstrip("^")
        yield "/" + re.sub(r"<\w+:(\w+)>", lambda match: values[match[1]], route)


@pytest.mark.parametrize("path", list(every_path()))
def test_every_path_asks_for_a_token_and_takes_no_bad_one(worker, path):
    """WP-H1 each route of the protocol, those to come among them, is closed without a valid token."""
    for method in ("get", "post", "put", "delete"):
        bare = getattr(worker.client, method)(path)
        assert (bare.status_code, code(bare)) == (401, "credential_missing")
        bad = getattr(worker.client, method)(path, headers={"Authorization": "Bearer fwk_" + "c" * 43})
        assert (bad.status_code, code(bad)) == (401, "credential_unknown")


def test_the_worker_token_opens_no_other_route(worker):
    """WP-H2 with a worker's token every route but the protocol's is as closed as without one."""
    headers = {"Authorization": f"Bearer {worker.secret}"}
    for path in ("/api/openapi.json", "/api/docs", "/admin/"):
        with_token = worker.client.get(path, headers=headers)
        without = worker.client.get(path)
        assert with_token.status_code == without.status_code != 200, path


def test_an_unknown_path_asks_for_the_token_first(worker):
    response = worker.client.post("/worker/v1/queue")
    assert (response.status_code, code(response)) == (401, "credential_missing")
    response = worker.post("/worker/v1/queue", {})
    assert (response.status_code, code(response)) == (404, "not_found")


def test_a_plain_request_from_afar_is_refused_whatever_header_it_forges(worker):
    """WP-S15 a forged X-Forwarded-Proto of a peer that is no trusted proxy: 403 tls_required."""
    worker.client.defaults["REMOTE_ADDR"] = "203.0.113.9"
    response = worker.post("/worker/v1/hello", HELLO, X_Forwarded_Proto="https")
    assert (response.status_code, code(response)) == (403, "tls_required")
    assert not Row.objects.exists()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_may_be_plain(worker, address):
    worker.client.defaults["REMOTE_ADDR"] = address
    assert worker.hello().status_code == 200


def test_the_worker_id_of_another_node_is_refused(worker):
    """WP-S18 the credential of one node with a worker id of another: 403 wrong_node."""
    other = worker_on("labor")
    response = other.post("/worker/v1/hello", HELLO, X_Worker_Id=worker.worker_id)
    assert (response.status_code, code(response)) == (403, "wrong_node")
    response = worker.post("/worker/v1/hello", HELLO, X_Worker_Id=other.worker_id)
    assert (response.status_code, code(response)) == (403, "wrong_node")


def test_another_live_boot_with_the_same_id_is_refused(worker):
    assert worker.hello().status_code == 200
    assert worker.hello(quarantined=1).status_code == 200
    response = worker.hello(pid=4712)
    assert (response.status_code, code(response)) == (409, "worker_busy")
    assert Row.objects.get().pid == 4711
    Row.objects.update(last_seen_at=now() - timedelta(seconds=90))
    assert worker.hello(pid=4712).status_code == 200


@pytest.mark.parametrize(
    ("changes", "details"),
    [
        ({"labels": {"can": "deploy"}}, {"label": "can=deploy"}),
        ({"labels": {"node": "lab"}}, {"label": "node=lab"}),
        ({"adapters": ["claude", "pi"]}, {"adapter": "pi"}),
        ({"anyAdapter": "pi"}, {"adapter": "pi"}),
        ({"adapterOverride": "claude"}, {"adapterOverride": "claude"}),
        ({"workspaceKinds": ["worktree"]}, {"workspaceKind": "worktree"}),
        ({"repositories": ["acme/shop"]}, {"repository": "acme/shop"}),
        ({"repositories": ["*"]}, {"repository": "*"}),
    ],
)
def test_an_offer_beyond_the_credential_names_what_is_too_much(changes, details):
    worker = worker_on(labels={"can": ("build",)}, adapters=("claude",), repositories=("acme/docs",))
    within = {"adapters": ["claude"], "anyAdapter": "claude", "labels": {"can": "build", "sandbox-bwrap": "yes"}}
    response = worker.hello(**{**within, **changes})
    assert (response.status_code, code(response)) == (403, "capability_escalation")
    assert details.items() <= response.json()["error"]["details"].items()
    assert not Row.objects.exists()
    assert worker.hello(**within, repositories=["acme/docs"]).status_code == 200


def test_too_many_bad_tokens_of_one_address_are_limited_and_good_ones_are_not(worker):
    good, worker.secret = worker.secret, "fwk_" + "b" * 43
    codes = [code(worker.hello()) for _ in range(21)]
    assert codes == ["credential_unknown"] * 20 + ["rate_limited"]
    assert int(worker.hello()["Retry-After"]) >= 1
    worker.secret = good
    assert worker.hello().status_code == 200


def test_bye_marks_the_boot_stopped_at_once(worker):
    worker.hello()
    response = worker.post("/worker/v1/bye", {"reason": "drained"})
    assert response.status_code == 200
    check_answer("bye", json.loads(response.content))
    row = Row.objects.get()
    assert row.stopped_at is not None
    assert row.stop_reason == "drained"


def test_a_value_that_no_column_holds_is_malformed(worker):
    response = worker.hello(quarantined=10**30)
    assert (response.status_code, code(response)) == (400, "malformed")
    assert not Row.objects.exists()


DEEP = '{"a":' * 800 + "1" + "}" * 800


@pytest.mark.parametrize("instant", ["0000-00-00T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-30T23:59:60Z", "now"])
def test_an_instant_that_no_calendar_has_is_malformed(worker, instant):
    assert code(worker.hello(time=instant)) == "malformed"
    job = Job(worker)
    assert code(job.trace(rows=[{"seq": 1, "at": instant, "kind": "lifecycle", "payload": {}}])) == "malformed"
    assert code(job.publish(job.failed("usage_limited", retryAt=instant))) == "malformed"
    assert job.state() == "leased"


def test_a_body_that_would_exhaust_whoever_walks_through_it_is_malformed(worker):
    job = Job(worker)
    row = {"seq": 1, "at": "2026-11-30T12:00:00Z", "kind": "lifecycle", "payload": json.loads(DEEP)}
    assert code(job.trace(rows=[row])) == "malformed"
    assert code(job.publish(job.failed("agent_exit", detail=json.loads(DEEP)))) == "malformed"
    assert job.state() == "leased"


def test_an_answer_states_its_length_and_nothing_of_a_session(worker):
    """So that the connection is kept; what pages need is left out."""
    response = worker.hello()
    assert response.headers["Content-Length"] == str(len(response.content))
    assert not response.cookies
    assert not hasattr(response.wsgi_request, "session")
