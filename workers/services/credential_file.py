"""The file that carries a token to its worker: complete or absent, readable by its owner alone."""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from django.conf import settings

from workers.allowances import EVERYTHING
from workers.models import Credential
from workers.services.credentials import credential_issue

if TYPE_CHECKING:
    from pathlib import Path

    from workers.services.credentials import Issued

SCHEMA = "factory.worker-credential/v1"
LOCAL_NODE = "local"
BOOTSTRAP_ACTOR = "bootstrap"


def credential_path(node: str) -> Path:
    """Where a node's file lies unless somebody names another place."""
    return settings.FACTORY.home / "secrets" / f"worker-{node}.json"


def credential_write(issued: Issued, *, path: Path, url: str) -> None:
    """Put the file in place in one step, mode 0600, its folder 0700 if it has to be made; replaces an older one.

    Raises OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(path, {"schemaVersion": SCHEMA, "node": issued.node, "url": url, "token": issued.secret})


def bootstrap_credential(url: str | None = None) -> Path:
    """The file of the node ``local``, which may claim everything and does not expire; made on the first call.

    Called by every start, with the address that it serves (default: the configured one), which the file follows. Once
    the node exists no token is made, also when its file was moved or its token revoked.
    """
    path = credential_path(LOCAL_NODE)
    address = url or settings.FACTORY.base_url
    if not Credential.objects.filter(node=LOCAL_NODE).exists():
        issued = credential_issue(node=LOCAL_NODE, allowed=EVERYTHING, life=None, actor=BOOTSTRAP_ACTOR)
        credential_write(issued, path=path, url=address)
    elif path.exists():
        _follow(path, address)
    return path


def _follow(path: Path, url: str) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("url") != url:
        _replace(path, {**content, "url": url})


def _replace(path: Path, content: dict[str, Any]) -> None:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
