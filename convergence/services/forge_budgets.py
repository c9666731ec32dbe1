"""The governor's book in the database, so that a limit which one process meets holds in all."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from convergence.forge.governor.account import Account
from convergence.forge.governor.purposes import Level
from convergence.models import ForgeBudget
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.governor.book import Change

_NAMES = tuple(field.name for field in fields(Account))


class SharedBook:
    """Accounts as rows. Each change locks its row for one short transaction; nothing is sent inside it."""

    def read(self, credential: str) -> Mapping[str, Account]:
        """Return the accounts of the credential by resource."""
        return accounts_of(credential)

    def change(self, credential: str, resource: str, change: Change) -> tuple[Account, Account]:
        """Return the account before and after ``change``, written only where it differs."""
        with joined_transaction():
            row, _ = ForgeBudget.objects.select_for_update().get_or_create(credential_id=credential, resource=resource)
            before = _account(row)
            after = change(before)
            if after != before:
                ForgeBudget.objects.filter(pk=row.pk).update(**asdict(after))
        return before, after


def accounts_of(credential: str) -> dict[str, Account]:
    """The accounts of the credential by resource, in one read."""
    return {row.resource: _account(row) for row in ForgeBudget.objects.filter(credential_id=credential)}


def _account(row: ForgeBudget) -> Account:
    found = {name: getattr(row, name) for name in _NAMES}
    found["level"] = Level(row.level)
    found["samples"] = tuple((float(at), int(used)) for at, used in row.samples)
    found["stamps"] = tuple(row.stamps)
    return Account(**found)
