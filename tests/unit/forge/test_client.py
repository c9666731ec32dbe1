"""The rules of one exchange, against a real socket."""

import threading
from datetime import timedelta

import pytest
import requests

from convergence.forge.config import TimeLimits
from convergence.forge.governor.purposes import Purpose
from convergence.forge.kept import kept_read
from runs.contract.errors import FactoryError, Invalid, NotFound, Permanent, Refused, Transient
from runs.contract.tokens import TokenSource
from tests.unit.forge.stub import TOKEN, Clock, Reply, client_of


def scripted(*replies):
    left = list(replies)
    return lambda _request: left.pop(0) if len(left) > 1 else left[0]


def test_every_request_says_what_it_is_and_carries_the_token_in_its_header_only(serve):
    stub = serve(scripted(Reply(body={"login": "factory"})))
    assert client_of(stub).rest("GET", "user", params={"a": "b"}).body == {"login": "factory"}
    (request,) = stub.requests
    assert request.headers["Accept"] == "application/vnd.github+json"
    assert request.headers["X-GitHub-Api-Version"] == "2022-11-28"
    assert request.headers["User-Agent"] == "factory/1.2.3"
    assert request.headers["Authorization"] == f"Bearer {TOKEN}"
    assert request.path == "/user?a=b"


def test_a_netrc_file_does_not_replace_the_token(serve, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    stub = serve(scripted(Reply(body={})))
    client_of(stub).rest("GET", "user")
    assert stub.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_redirect_to_another_host_is_not_followed_and_sends_nothing_there(serve):
    """GH-S20: the other host sees no request, and so no header."""
    other = serve(scripted(Reply(body={})))
    stub = serve(scripted(Reply(status=302, headers={"Location": f"{other.url}/user"})))
    with pytest.raises(Permanent) as raised:
        client_of(stub).rest("GET", "user")
    assert raised.value.code == "forge_redirect_refused"
    assert other.requests == []
    assert len(stub.requests) == 1


def test_a_next_page_on_another_host_is_refused(serve):
    other = serve(scripted(Reply(body=[])))
    stub = serve(scripted(Reply(body=[])))
    with pytest.raises(Permanent, match="another host"):
        client_of(stub).rest("GET", f"{other.url}/page2")
    assert other.requests == stub.requests == []


def test_a_renamed_repository_is_followed_and_noted(serve):
    def script(request):
        if request.path == "/repos/old/name":
            return Reply(status=301, headers={"Location": "/repositories/7"})
        return Reply(body={"id": 7})

    answer = client_of(stub := serve(script)).rest("GET", "repos/old/name")
    assert answer.body == {"id": 7}
    assert answer.moved_to == f"{stub.url}/repositories/7"


@pytest.mark.parametrize(("kept", "lost"), [(301, 302), (307, 303), (308, 302)])
def test_a_write_is_sent_again_only_to_where_the_thing_has_moved(serve, kept, lost):
    def script(request):
        status = {"/kept": kept, "/lost": lost}.get(request.path)
        return Reply(status=status, headers={"Location": "/there"}) if status else Reply(status=201, body={"ok": 1})

    stub = serve(script)
    client = client_of(stub)
    assert client.rest("POST", "kept", json={"a": 1}).body == {"ok": 1}
    assert (stub.requests[-1].method, stub.requests[-1].body) == ("POST", {"a": 1})
    with pytest.raises(Permanent, match="does not let it be repeated"):
        client.rest("POST", "lost", json={"a": 1})
    assert stub.requests[-1].path == "/lost"


def test_at_most_three_redirects_are_followed(serve):
    stub = serve(scripted(Reply(status=301, headers={"Location": "/again"})))
    with pytest.raises(Permanent, match="more than 3 redirects"):
        client_of(stub).rest("GET", "user")
    assert len(stub.requests) == 4


@pytest.mark.parametrize("reply", [Reply(status=502), Reply(status=503), Reply(body={"a": 1}, cut=3)])
def test_a_read_is_repeated_twice_in_place(serve, reply):
    stub = serve(scripted(reply, reply, Reply(body={"ok": 1})))
    pauses: list[float] = []
    assert client_of(stub, pauses=pauses).rest("GET", "user").body == {"ok": 1}
    assert pauses == [1.0, 4.0]
    assert len(stub.requests) == 3


def test_a_read_that_stays_broken_ends_transient(serve):
    stub = serve(scripted(Reply(status=504)))
    with pytest.raises(Transient) as raised:
        client_of(stub).rest("GET", "user")
    assert raised.value.code == "forge_unavailable"
    assert len(stub.requests) == 3


@pytest.mark.parametrize("reply", [Reply(status=502), Reply(status=201, body={"id": 1}, cut=2)])
def test_a_write_is_never_repeated_in_place(serve, reply):
    stub = serve(scripted(reply))
    with pytest.raises(Transient) as raised:
        client_of(stub).rest("POST", "repos/a/b/issues/1/comments", json={"body": "x"})
    assert raised.value.details["sent"] is True
    assert len(stub.requests) == 1


def test_an_answer_that_does_not_come_in_time_is_transient_and_not_repeated(serve):
    hold = threading.Event()
    stub = serve(scripted(Reply(body={}, hold=hold)))
    client = client_of(stub, limits=TimeLimits(rest=0.2))
    with pytest.raises(Transient) as raised:
        client.rest("GET", "user")
    hold.set()
    assert raised.value.details["timed_out"] is True
    assert len(stub.requests) == 1


def test_an_answer_that_stops_in_the_middle_counts_as_not_in_time(serve):
    stall = threading.Event()
    stub = serve(scripted(Reply(body={"a": "b" * 100}, cut=20, stall=stall)))
    client = client_of(stub, limits=TimeLimits(rest=0.2))
    with pytest.raises(Transient) as raised:
        client.rest("GET", "user")
    stall.set()
    assert raised.value.details["timed_out"] is True
    assert len(stub.requests) == 1


def test_nobody_listening_is_transient_and_was_not_answered(serve):
    stub = serve(scripted(Reply()))
    pauses: list[float] = []
    client = client_of(stub, pauses=pauses)
    stub.close()
    with pytest.raises(Transient):
        client.rest("GET", "user")
    assert pauses == [1.0, 4.0]


def test_a_page_instead_of_json_is_transient(serve):
    stub = serve(scripted(Reply(body=b"<html>Unicorn</html>", headers={"Content-Type": "text/html"})))
    with pytest.raises(Transient, match="not JSON"):
        client_of(stub).rest("GET", "user")


def test_an_answer_over_the_limit_is_given_up_while_it_arrives(serve):
    stub = serve(scripted(Reply(endless=True)))
    with pytest.raises(Permanent) as raised:
        client_of(stub, body_bytes=300_000).rest("GET", "user")
    assert raised.value.code == "answer_too_large"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (403, Permanent, "forge_forbidden"),
        (404, NotFound, "forge_not_found"),
        (405, Refused, "forge_refused"),
        (409, Refused, "forge_refused"),
        (410, Permanent, "forge_gone"),
        (451, Permanent, "forge_gone"),
        (422, Invalid, "forge_invalid"),
        (500, Transient, "forge_unavailable"),
        (400, Permanent, "forge_rejected"),
    ],
)
def test_a_status_means_one_error_with_the_forges_words(serve, status, kind, code):
    body = {"message": "Head branch was modified", "errors": [{"message": "because"}]}
    with pytest.raises(kind) as raised:
        client_of(serve(scripted(Reply(status=status, body=body)))).rest("PUT", "repos/a/b/pulls/1/merge", json={})
    assert raised.value.code == code
    assert "Head branch was modified; because" in raised.value.message


def test_a_401_resolves_the_token_once_more_and_then_everything_waits(serve):
    stub, clock = serve(scripted(Reply(status=401, body={"message": "Bad credentials"}))), Clock()
    values: list[str] = []

    def cli(_argv, _environment):
        values.append(f"gho_{len(values)}")
        return values[-1]

    client = client_of(stub, clock=clock, tokens=TokenSource(stub.url, {}, cli=cli))
    with pytest.raises(Permanent) as raised:
        client.rest("GET", "user")
    assert raised.value.code == "forge_unauthorised"
    assert [request.headers["Authorization"] for request in stub.requests] == ["Bearer gho_0", "Bearer gho_1"]

    with pytest.raises(Permanent, match="does not accept"):
        client.rest("GET", "user")
    assert len(stub.requests) == 2

    clock.at += timedelta(minutes=5)
    stub.script = scripted(Reply(body={"login": "factory"}))
    assert client.rest("GET", "user").body == {"login": "factory"}
    assert client.rest("GET", "user").body == {"login": "factory"}
    assert len(stub.requests) == 4


def test_a_new_token_is_used_at_the_first_401(serve):
    values = ["gho_old", "gho_new"]

    def script(request):
        return Reply(body={"ok": 1}) if request.headers["Authorization"].endswith("new") else Reply(status=401, body={})

    stub = serve(script)
    client = client_of(stub, tokens=TokenSource(stub.url, {}, cli=lambda *_: values.pop(0)))
    assert client.rest("GET", "user").body == {"ok": 1}
    assert len(stub.requests) == 2


def test_a_query_error_without_a_path_is_a_defect_of_ours(serve):
    stub = serve(scripted(Reply(body={"errors": [{"message": "Field 'nope' doesn't exist"}]})))
    with pytest.raises(Permanent) as raised:
        client_of(stub).query("query{nope}", {})
    assert raised.value.code == "forge_query_rejected"
    assert "Field 'nope'" in raised.value.message


def test_a_query_that_took_too_long_is_transient(serve):
    words = "Something went wrong while executing your query. This may be the result of a timeout"
    stub = serve(scripted(Reply(body={"errors": [{"message": words}]})))
    with pytest.raises(Transient) as raised:
        client_of(stub).query("query{viewer{login}}", {})
    assert raised.value.details["timed_out"] is True


def test_no_error_text_holds_the_token(serve):
    stub = serve(scripted(Reply(status=403, body={"message": "no"})))
    client = client_of(stub)
    shown: list[str] = [repr(client.config), repr(client.config.tokens.token())]
    for path in ("user", f"{stub.url}x/user"):
        with pytest.raises((FactoryError, requests.RequestException)) as raised:
            client.rest("GET", path)
        shown += [repr(raised.value), str(raised.value), str(raised.value.__cause__)]
    assert TOKEN not in " ".join(shown)


def test_the_guard_is_asked_before_anything_is_sent(serve):
    stub = serve(scripted(Reply(body={})))
    client = client_of(stub)

    def refuse():
        raise RuntimeError("inside a transaction")

    client._guard = refuse
    for call in (
        lambda: client.rest("GET", "user"),
        lambda: client.query("query{viewer{login}}", {}),
        lambda: client.mutate("mutation{x}", {}),
    ):
        with pytest.raises(RuntimeError):
            call()
    assert stub.requests == []


def test_a_person_is_told_sooner_that_the_forge_hangs(serve):
    hold = threading.Event()
    stub = serve(scripted(Reply(body={}, hold=hold)))
    client = client_of(stub, person_limits=TimeLimits(rest=0.2, graphql=0.2))
    person = client.serving(Purpose.PERSON)
    for call in (lambda: person.rest("GET", "user"), lambda: person.query("query{viewer{login}}", {})):
        with pytest.raises(Transient) as raised:
            call()
        assert raised.value.details["timed_out"] is True
    hold.set()
    assert client.limits.graphql > person.limits.graphql
    assert len(stub.requests) == 2


def test_what_changes_slowly_is_asked_for_once_a_minute_and_then_whether_it_stands(serve):
    def script(request):
        if request.headers.get("If-None-Match") == '"v1"':
            return Reply(status=304, headers={"ETag": '"v1"'})
        return Reply(body={"default_branch": "main"}, headers={"ETag": '"v1"'})

    stub, clock = serve(script), Clock()
    client = client_of(stub, clock=clock)
    for seconds in (0, 30, 31, 59, 10):
        clock.at += timedelta(seconds=seconds)
        assert kept_read(client, "repos/a/b") == {"default_branch": "main"}
    assert [request.headers.get("If-None-Match") for request in stub.requests] == [None, '"v1"', '"v1"']
    stub.script = scripted(Reply(body={"default_branch": "trunk"}, headers={"ETag": '"v2"'}))
    clock.at += timedelta(minutes=2)
    assert kept_read(client, "repos/a/b") == {"default_branch": "trunk"}
