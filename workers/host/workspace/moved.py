"""Where a repository went that was renamed or transferred: the forge's own word, asked as git asks."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

SECONDS = 5.0  # connect and read; git waits for the answer
MOVED = frozenset({301, 302, 307, 308})
ENDPOINT = ".git/info/refs"


def moved_to(server_url: str, repository: str, token: str) -> str | None:
    """Return ``owner/repo`` as the forge at ``server_url`` redirects git to, ``None`` where it does not redirect.

    One request, no redirect followed: a target on another host counts as none, and the token goes nowhere else.
    """
    import requests  # loaded where a push needs it: an idle worker is a third smaller without

    asked = f"{server_url}/{repository}{ENDPOINT}"
    try:
        with requests.get(
            asked,
            params={"service": "git-upload-pack"},
            auth=("x-access-token", token),
            timeout=SECONDS,
            allow_redirects=False,
            stream=True,
        ) as answer:
            status, location = answer.status_code, answer.headers.get("Location", "")
    except requests.RequestException:
        return None
    target, own = urlsplit(urljoin(asked, location)), urlsplit(server_url)
    if status not in MOVED or (target.scheme, target.netloc) != (own.scheme, own.netloc):
        return None
    path = target.path.removeprefix(own.path.rstrip("/")).strip("/")
    return path.removesuffix(ENDPOINT) if path.endswith(ENDPOINT) else None
