"""Single reads beside the profiles: one function each, a typed result, and the page rule of lists."""

import base64
import binascii
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from convergence.forge.client import ForgeClient
from convergence.forge.documents.profiles import VIEWER
from convergence.forge.facts import Listing
from convergence.forge.kept import kept_read
from convergence.forge.paging import rest_list
from runs.contract.errors import NotFound, Transient

MOST_FILE_PAGES = 30  # GitHub lists at most 3,000 files of a pull request


@dataclass(frozen=True, slots=True)
class Comparison:
    """How ``head`` stands to ``base``: ``identical``, ``ahead``, ``behind`` or ``diverged``."""

    status: str
    ahead_by: int
    behind_by: int
    merge_base_sha: str | None


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """A repository and the ways in which it lets pull requests land (``None``: the token may not know)."""

    forge_id: int
    name_with_owner: str
    default_branch: str
    private: bool
    archived: bool
    allow_squash: bool | None
    allow_merge: bool | None
    allow_rebase: bool | None


@dataclass(frozen=True, slots=True)
class PullSummary:
    """A pull request as REST tells it, read alone; ``merge_state_status`` in the words of the batched reading."""

    number: int
    node_id: str
    state: str
    merged: bool
    is_draft: bool
    head_sha: str
    base_ref: str
    merge_state_status: str
    merged_by: str | None


@dataclass(frozen=True, slots=True)
class CommitAuthor:
    """Who wrote a commit, as git says it; ``login`` where GitHub knows the address."""

    name: str
    email: str
    login: str | None


@dataclass(frozen=True, slots=True)
class PullFile:
    """A file that a pull request changes; ``status`` is GitHub's ``added``, ``modified``, ``removed``, ``renamed``."""

    path: str
    status: str
    additions: int
    deletions: int
    previous_path: str | None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whom the token belongs to, its scopes where GitHub names them (classic tokens only), and when it ends."""

    login: str
    scopes: tuple[str, ...] | None
    expires_at: datetime | None = None


def compare(client: ForgeClient, owner: str, name: str, base: str, head: str) -> Comparison:
    """Return how two commits, branches or tags of one repository stand to each other."""
    path = f"repos/{owner}/{name}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
    body = client.rest("GET", path, params={"per_page": "1"}).body
    return Comparison(
        status=body["status"],
        ahead_by=body["ahead_by"],
        behind_by=body["behind_by"],
        merge_base_sha=(body.get("merge_base_commit") or {}).get("sha"),
    )


def get_pull(client: ForgeClient, owner: str, name: str, number: int) -> PullSummary:
    """Return one pull request, uncached; asking makes GitHub compute a missing mergeability."""
    body = client.rest("GET", f"repos/{owner}/{name}/pulls/{number}").body
    return PullSummary(
        number=body["number"],
        node_id=body["node_id"],
        state=body["state"],
        merged=body["merged"],
        is_draft=bool(body.get("draft")),
        head_sha=body["head"]["sha"],
        base_ref=body["base"]["ref"],
        merge_state_status=str(body.get("mergeable_state") or "unknown").upper(),
        merged_by=(body.get("merged_by") or {}).get("login"),
    )


def pull_authors(client: ForgeClient, owner: str, name: str, number: int) -> Listing[CommitAuthor]:
    """Return the author of each commit of a pull request, oldest first; GitHub lists at most 250."""
    found = rest_list(client, f"repos/{owner}/{name}/pulls/{number}/commits")
    items = tuple(
        CommitAuthor(
            name=(item["commit"].get("author") or {}).get("name") or "",
            email=(item["commit"].get("author") or {}).get("email") or "",
            login=(item.get("author") or {}).get("login"),
        )
        for item in found.items
    )
    return Listing(items=items, complete=found.complete, total=found.total)


def merged_pulls_of(client: ForgeClient, owner: str, name: str, branch: str) -> tuple[int, ...]:
    """Return the numbers of merged pull requests whose head was this branch of the repository itself."""
    asked = urlencode({"state": "closed", "head": f"{owner}:{branch}"})
    found = rest_list(client, f"repos/{owner}/{name}/pulls?{asked}")
    return tuple(
        item["number"]
        for item in found.items
        if item.get("merged_at") and ((item["head"].get("repo") or {}).get("id")) == item["base"]["repo"]["id"]
    )


def repository(client: ForgeClient, owner: str, name: str) -> RepositoryFacts:
    """Return the repository that GitHub answers for this name now, at most a minute old."""
    body = kept_read(client, f"repos/{owner}/{name}")
    return RepositoryFacts(
        forge_id=body["id"],
        name_with_owner=body["full_name"],
        default_branch=body["default_branch"],
        private=body["private"],
        archived=bool(body.get("archived")),
        allow_squash=body.get("allow_squash_merge"),
        allow_merge=body.get("allow_merge_commit"),
        allow_rebase=body.get("allow_rebase_merge"),
    )


def file_text(client: ForgeClient, owner: str, name: str, path: str, commit: str) -> str | None:
    """Return the text of a file at a commit; None where there is no such file. Bytes that are no text are replaced."""
    try:
        body = client.rest("GET", f"repos/{owner}/{name}/contents/{quote(path)}", params={"ref": commit}).body
    except NotFound:
        return None
    if not isinstance(body, dict) or body.get("type") != "file":
        return None
    try:
        return base64.b64decode(body.get("content") or "", validate=False).decode(errors="replace")
    except (binascii.Error, ValueError) as error:
        raise Transient("forge_unread", f"GitHub's copy of {path} cannot be decoded") from error


def branch_tip(client: ForgeClient, owner: str, name: str, branch: str) -> str | None:
    """Return the commit that a branch points at; None without the branch."""
    try:
        body = client.rest("GET", f"repos/{owner}/{name}/git/ref/heads/{quote(branch)}").body
    except NotFound:
        return None
    tip: str = body["object"]["sha"]
    return tip


def open_pulls_of(client: ForgeClient, owner: str, name: str, branch: str) -> int | None:
    """Return how many open pull requests have the branch as head or base; None when not all could be listed."""
    found: set[int] = set()
    for asked in ({"head": f"{owner}:{branch}"}, {"base": branch}):
        listed = rest_list(client, f"repos/{owner}/{name}/pulls?{urlencode({'state': 'open', **asked})}")
        if not listed.complete:
            return None
        found |= {item["number"] for item in listed.items}
    return len(found)


def issue_exists(client: ForgeClient, owner: str, name: str, number: int) -> bool:
    """Return whether the number is an issue and no pull request of this repository."""
    try:
        body = client.rest("GET", f"repos/{owner}/{name}/issues/{number}").body
    except NotFound:
        return False
    return not body.get("pull_request")


def pull_files(client: ForgeClient, owner: str, name: str, number: int) -> Listing[PullFile]:
    """Return the files that a pull request changes; incomplete from GitHub's own cap of 3,000 on."""
    found = rest_list(client, f"repos/{owner}/{name}/pulls/{number}/files", most_pages=MOST_FILE_PAGES)
    items = tuple(
        PullFile(
            path=item["filename"],
            status=item["status"],
            additions=item["additions"],
            deletions=item["deletions"],
            previous_path=item.get("previous_filename"),
        )
        for item in found.items
    )
    capped = len(items) >= MOST_FILE_PAGES * 100
    return Listing(items=items, complete=found.complete and not capped, total=found.total)


def viewer(client: ForgeClient) -> Viewer:
    """Return the login behind the token, which is the product's own login."""
    answer = client.query(VIEWER, {})
    if not answer.data.get("viewer"):
        raise Transient("forge_unread", "GitHub did not say whom the token belongs to")
    scopes = answer.headers.get("X-OAuth-Scopes")
    named = None if scopes is None else tuple(scope.strip() for scope in scopes.split(",") if scope.strip())
    expires_at = _expiry(answer.headers.get("GitHub-Authentication-Token-Expiration", ""))
    return Viewer(login=answer.data["viewer"]["login"], scopes=named, expires_at=expires_at)


def _expiry(text: str) -> datetime | None:
    """Read ``2026-03-01 10:00:00 UTC`` or ``… +0100``; anything else says nothing."""
    for form in ("%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S UTC"):
        try:
            read = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the second form is UTC by its own word
        except ValueError:
            continue
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    return None
