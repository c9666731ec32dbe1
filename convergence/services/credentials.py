"""What the forge says about the credential in use: whose it is, what it may do, when it ends. Asked once a day."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from convergence.forge.singles import viewer
from convergence.models import ForgeCredential
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.forge.client import ForgeClient

_log = logging.getLogger(__name__)

ASKED_AFTER = timedelta(days=1)
FAILED_AFTER = timedelta(minutes=1)  # a check that learnt nothing is made again this soon
KINDS = {
    "ghp_": "classic",
    "gho_": "app user",
    "ghu_": "app user",
    "ghs_": "app installation",
    "github_pat_": "fine-grained",
}


def credential_checked(client: ForgeClient) -> ForgeCredential:
    """The row of the credential in use, asked of the forge when it is older than a day.

    Raises ``Permanent`` ``forge_unauthorised`` only where there is no token at all.
    """
    token = client.config.tokens.token()
    now = clock_now()
    row = ForgeCredential.objects.filter(credential_id=token.credential_id).first()
    if row is not None and now - row.checked_at < (FAILED_AFTER if row.fault else ASKED_AFTER):
        return row
    told: dict[str, object] = {"source": token.source, "kind": _kind(token.value), "checked_at": now}
    try:
        found = viewer(client)
    except FactoryError as error:
        told |= _faulty(row, error, now)
    else:
        scopes = None if found.scopes is None else list(found.scopes)
        told |= {"login": found.login, "scopes": scopes, "expires_at": found.expires_at}
        told |= {"fault": "", "fault_since": None}
        if row is None or row.fault or row.login != found.login:
            _log.info("the forge knows the product as %s", found.login)
    row, _ = ForgeCredential.objects.update_or_create(credential_id=token.credential_id, defaults=told)
    return row


def _faulty(row: ForgeCredential | None, error: FactoryError, now: datetime) -> dict[str, object]:
    """What a failed check writes; said in the log once, until it changes."""
    fault = f"{error.code}: {error.message}"[:500]
    if row is None or not row.fault.startswith(error.code):
        _log.warning("the forge does not say whose the token is: %s", error.message)
    return {"fault": fault, "fault_since": row.fault_since if row and row.fault else now}


def _kind(value: str) -> str:
    return next((kind for prefix, kind in KINDS.items() if value.startswith(prefix)), "unknown")
