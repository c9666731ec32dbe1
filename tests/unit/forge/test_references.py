"""What counts as a reference of a pull request, and what GitHub makes of it."""

import pytest

from convergence.forge.facts import PullRef
from convergence.forge.references import lookup, resolve_reference
from runs.contract.errors import Invalid, NotFound, Permanent
from tests.unit.forge.stub import Reply, client_of

SERVER = "https://github.com"
LONGEST = "a" * 39


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme/shop#12", ("acme", "shop", 12)),
        (" Acme/Shop.js#1 ", ("Acme", "Shop.js", 1)),
        ("https://github.com/acme/shop/pull/12", ("acme", "shop", 12)),
        ("http://GitHub.com/acme/shop/pull/12/files?w=1#diff-2", ("acme", "shop", 12)),
        (f"{LONGEST}/{'b' * 100}#2147483647", (LONGEST, "b" * 100, 2147483647)),
        ("a-b-c/.github#1", ("a-b-c", ".github", 1)),
    ],
)
def test_a_reference_is_a_short_key_or_an_address_of_the_server(text, expected):
    assert resolve_reference(text, SERVER) == PullRef(*expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme/shop",
        "acme/shop#0",
        "acme/shop#-1",
        "acme/shop#2147483648",
        "acme/shop#1a",
        "acme/shop#١",
        "-acme/shop#1",
        "acme-/shop#1",
        "ac_me/shop#1",
        f"{LONGEST}a/shop#1",
        f"acme/{'b' * 101}#1",
        "acme/.#1",
        "acme/..#1",
        "acme/shop.git#1",
        "acme/sh op#1",
        "acme/shop#1\nacme/shop#2",
        "https://github.com/acme/shop/issues/12",
        "https://github.com/acme/shop/pull",
        "https://evil.test/acme/shop/pull/12",
        "https://github.com.evil.test/acme/shop/pull/12",
        "https://github.com@evil.test/acme/shop/pull/12",
        "ftp://github.com/acme/shop/pull/12",
        "github.com/acme/shop/pull/12",
        "https://[/acme/shop/pull/12",
    ],
)
def test_anything_else_is_a_bad_reference(text):
    with pytest.raises(Invalid) as raised:
        resolve_reference(text, SERVER)
    assert raised.value.code == "bad_reference"


def forge(data, errors=(), issue=404):
    def script(request):
        if request.path == "/graphql":
            return Reply(body={"data": data, "errors": list(errors)})
        assert request.path == "/repos/acme/shop/issues/12"
        return Reply(status=issue, body={"number": 12})

    return script


def missing(*path):
    return {"type": "NOT_FOUND", "path": ["p0", *path], "message": "Could not resolve"}


REPOSITORY = {"databaseId": 7, "nameWithOwner": "acme/shop"}


def test_a_look_up_answers_with_the_names_that_github_uses_now(serve):
    found = {"p0": {"databaseId": 7, "nameWithOwner": "New/Shop", "pullRequest": {"id": "PR_1", "number": 12}}}
    assert lookup(client_of(serve(forge(found))), "acme", "shop", 12) == PullRef("New", "Shop", 12, "PR_1")


@pytest.mark.parametrize(
    ("data", "errors", "issue", "reason"),
    [
        ({"p0": None}, [missing()], 404, None),
        ({"p0": {**REPOSITORY, "pullRequest": None}}, [missing("pullRequest")], 404, None),
        ({"p0": {**REPOSITORY, "pullRequest": None}}, [missing("pullRequest")], 200, "not_a_pull_request"),
    ],
)
def test_what_is_no_pull_request_is_unknown_and_an_issue_says_so(serve, data, errors, issue, reason):
    with pytest.raises(NotFound) as raised:
        lookup(client_of(serve(forge(data, errors, issue))), "acme", "shop", 12)
    assert raised.value.code == "unknown_pull_request"
    assert raised.value.details.get("reason") == reason


def test_a_repository_that_is_forbidden_is_not_called_unknown(serve):
    error = {"type": "FORBIDDEN", "path": ["p0"], "message": "SAML"}
    with pytest.raises(Permanent) as raised:
        lookup(client_of(serve(forge({"p0": None}, [error]))), "acme", "shop", 12)
    assert raised.value.code == "forge_forbidden"
