"""How things stand with the forge, from rows alone: whose credential, how much is left, what keeps requests back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.forge.governor.account import ALL, CORE, GRAPHQL, Account
from convergence.forge.governor.purposes import Level
from convergence.models import ForgeCredential
from convergence.services.forge_budgets import accounts_of
from runs.clock import now as clock_now

if TYPE_CHECKING:
    from datetime import datetime

UNAUTHORISED = "forge_unauthorised"


@dataclass(frozen=True, slots=True)
class ForgeStanding:
    """The credential that was used last, with its accounts as they are at ``at``."""

    credential: ForgeCredential
    core: Account
    graphql: Account
    everything: Account
    at: datetime

    @property
    def level(self) -> Level:
        """The scarcest of what concerns reading."""
        return Level.BLOCKED if self.blocked_until else max(self.core.level_at(self.at), self.graphql.level_at(self.at))

    @property
    def block(self) -> Account | None:
        """The account with the longest block that is in force."""
        held = [each for each in self._accounts if each.blocked_until is not None and each.blocked_until > self.at]
        return max(held, key=lambda each: each.blocked_until or self.at, default=None)

    @property
    def blocked_until(self) -> datetime | None:
        """Until when nothing is sent."""
        return self.block.blocked_until if self.block else None

    @property
    def refused(self) -> Account | None:
        """The account that says that the forge does not accept the token; also between two probes."""
        return self.everything if self.everything.block_code == UNAUTHORISED else None

    @property
    def failing_since(self) -> datetime | None:
        """Since when the forge has not answered."""
        since = [each.failing_since for each in self._accounts if each.failing_since is not None]
        return min(since, default=None)

    @property
    def scarce_since(self) -> datetime | None:
        """Since when little or nothing has been left."""
        since = [each.blocked_since for each in self._accounts if each is self.block]
        since += [each.scarce_since for each in (self.core, self.graphql) if each.level_at(self.at) >= Level.RESERVE]
        return min((instant for instant in since if instant is not None), default=None)

    @property
    def _accounts(self) -> tuple[Account, ...]:
        return (self.everything, self.core, self.graphql)


def forge_standing() -> ForgeStanding | None:
    """How things stand; None before the forge was ever asked. Two reads."""
    row = ForgeCredential.objects.order_by("-checked_at").first()
    if row is None:
        return None
    known = accounts_of(row.credential_id)
    empty = Account()
    return ForgeStanding(
        credential=row,
        core=known.get(CORE, empty),
        graphql=known.get(GRAPHQL, empty),
        everything=known.get(ALL, empty),
        at=clock_now(),
    )


def forge_document() -> dict[str, Any] | None:
    """The same as an object of the API; null before the forge was ever asked."""
    found = forge_standing()
    if found is None:
        return None
    block = found.block
    return {
        "credential": found.credential.credential_id,
        "login": found.credential.login or None,
        "level": found.level.word,
        "core": _budget(found.core),
        "graphql": _budget(found.graphql),
        "blockedUntil": found.blocked_until,
        "reason": block.block_message if block else None,
        "failingSince": found.failing_since,
        "batchSize": found.graphql.batch_size,
    }


def _budget(account: Account) -> dict[str, Any]:
    return {"limit": account.limit, "remaining": account.remaining, "resetAt": account.reset_at}
