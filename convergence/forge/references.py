"""What a person typed, as a pull request that GitHub knows."""

import re
from urllib.parse import urlsplit

from convergence.forge.client import ForgeClient
from convergence.forge.documents.profiles import IDENTITY
from convergence.forge.facts import PullRef
from convergence.forge.wire.answers import alias_error
from runs.contract.errors import Invalid, NotFound

OWNER = re.compile(r"(?!-)(?!.*-$)[A-Za-z0-9-]{1,39}", re.ASCII)
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)
SHORT = re.compile(r"([^/#]*)/([^/#]*)#([^/#]*)")
LARGEST_NUMBER = 2**31 - 1


def resolve_reference(text: str, server_url: str) -> PullRef:
    """Return the pull request that ``owner/repo#12`` or its page's address names; ``Invalid`` ``bad_reference``."""
    wanted = text.strip()
    short = SHORT.fullmatch(wanted)
    if short and "://" not in wanted:
        owner, name, number = short.groups()
    else:
        owner, name, kind, number = address_parts(wanted, server_url) or ("", "", "", "")
        if kind != "pull":
            raise _bad(text, f"write owner/repo#12 or {server_url}/owner/repo/pull/12")
    if not OWNER.fullmatch(owner):
        raise _bad(text, f"{owner!r} is no owner: 1 to 39 letters, digits and inner hyphens")
    if not NAME.fullmatch(name) or name in (".", "..") or name.lower().endswith(".git"):
        raise _bad(text, f"{name!r} is no repository name")
    if not NUMBER.fullmatch(number) or not 1 <= int(number) <= LARGEST_NUMBER:
        raise _bad(text, f"{number!r} is no number of a pull request")
    return PullRef(owner=owner, name=name, number=int(number))


def lookup(client: ForgeClient, owner: str, name: str, number: int) -> PullRef:
    """Return the pull request with its node id, spelled as GitHub spells it now.

    ``NotFound`` ``unknown_pull_request``; its details say ``not_a_pull_request`` where the number is an issue's.
    """
    answer = client.query(IDENTITY, {"owner": owner, "name": name, "number": number})
    repository = answer.data.get("p0") or {}
    pull = repository.get("pullRequest")
    if pull is not None:
        now_owner, _, now_name = repository["nameWithOwner"].partition("/")
        return PullRef(owner=now_owner, name=now_name, number=pull["number"], node_id=pull["id"])
    for error in answer.errors:
        meant = alias_error(error)
        if not isinstance(meant, NotFound):
            raise meant
    key = f"{owner}/{name}#{number}"
    if repository and _is_issue(client, owner, name, number):
        raise NotFound(
            "unknown_pull_request",
            f"{key} is an issue, not a pull request",
            details={"reference": key, "reason": "not_a_pull_request"},
        )
    raise NotFound(
        "unknown_pull_request",
        f"GitHub knows no pull request {key}, or the token may not see it",
        details={"reference": key},
    )


def _is_issue(client: ForgeClient, owner: str, name: str, number: int) -> bool:
    try:
        client.rest("GET", f"repos/{owner}/{name}/issues/{number}")
    except NotFound:
        return False
    return True


def address_parts(text: str, server_url: str) -> tuple[str, str, str, str] | None:
    """Return (owner, name, kind, number) of a page's address below the server's host; whatever trails is ignored.

    The four are as they stand there, blank where they are missing; None for another server and for no address.
    """
    try:
        address, server = urlsplit(text), urlsplit(server_url)
    except ValueError:
        return None
    if address.scheme not in ("http", "https") or address.netloc.lower() != server.netloc.lower():
        return None
    owner, name, kind, number, *_ = [*address.path.strip("/").split("/"), "", "", "", ""]
    return owner, name, kind, number


def _bad(text: str, why: str) -> Invalid:
    return Invalid("bad_reference", f"{text[:200]!r} names no pull request: {why}", details={"reference": text[:200]})
