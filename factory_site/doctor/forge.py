"""Checks of the forge: its token, its limits, whether it answers, and whether its webhooks arrive."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from convergence.forge_access import forge_client
from convergence.models import ForgeTeam, ReviewerStatus
from convergence.selectors.forge import forge_standing
from factory_site.doctor.report import EXAMPLES, Finding, Level
from runs.contract.errors import FactoryError, Invalid
from runs.models import TransitionLog, WebhookDelivery

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMITED_FOR = timedelta(minutes=10)
UNREACHABLE_FOR = timedelta(minutes=3)
DEFECT_SHOWN = timedelta(hours=24)
EXPIRING = timedelta(days=7)
SILENT_FOR = timedelta(hours=24)
NEEDED = {  # scopes of a classic token, by the feature that lacks them without
    "repo": "pull requests of private repositories, merges and comments",
    "read:org": "reviews by teams",
}
RENEW = "set GITHUB_TOKEN in settings.env, or: gh auth login"
MOST = 200


def forge_unauthorised(at: datetime) -> list[Finding]:
    """No token, or one that the forge does not accept."""
    del at
    try:
        forge_client().config.tokens.token()
    except Invalid:
        return []  # no policy, which a finding of its own tells
    except FactoryError as error:
        return [Finding("forge_unauthorised", 1, None, error.message, ("forge",), RENEW)]
    found = forge_standing()
    if found is None or found.refused is None:
        return []
    refused = found.refused
    name = found.credential.credential_id
    text = f"{refused.block_message} (the token from {found.credential.source}); one request each 5 min asks again"
    return [Finding("forge_unauthorised", 1, refused.blocked_since, text, (name,), RENEW)]


def forge_limited(at: datetime) -> list[Finding]:
    """Little or nothing has been left of the hourly budget for minutes."""
    found = forge_standing()
    if found is None or found.refused or found.scarce_since is None or at - found.scarce_since < LIMITED_FOR:
        return []
    told = [(each.remaining or 0, each.limit) for each in (found.core, found.graphql) if each.limit]
    remaining, limit = min(told, key=lambda each: each[0] / each[1], default=(0, 0))
    left = f"{remaining} of {limit} requests are left" if limit else "requests are refused"
    until = f" until {found.blocked_until:%H:%M:%S} UTC" if found.blocked_until else ""
    text = f"the forge limits us ({found.level.word}{until}): {left}"
    mend = "wait; poll less often: FACTORY_POLL_SECONDS in settings.env"
    return [Finding("forge_limited", 1, found.scarce_since, text, (found.credential.credential_id,), mend)]


def forge_unreachable(at: datetime) -> list[Finding]:
    """The forge has not answered for minutes."""
    found = forge_standing()
    since = found.failing_since if found else None
    if since is None or at - since < UNREACHABLE_FOR:
        return []
    address = settings.FACTORY.github_api_url
    text = f"{address} has not answered since {since:%H:%M:%S} UTC; it is asked once a minute"
    return [Finding("forge_unreachable", 1, since, text, (address,), f"curl -sI {address}")]


def forge_query_rejected(at: datetime) -> list[Finding]:
    """The forge rejected a query as wrong, which is a defect of the product."""
    found = forge_standing()
    if found is None or found.graphql.defect_at is None or at - found.graphql.defect_at > DEFECT_SHOWN:
        return []
    text = f"the forge rejects a query of the product: {found.graphql.defect}"
    return [Finding("forge_query_rejected", 1, found.graphql.defect_at, text, ("forge",), "report it; update Factory")]


def token_lacking(at: datetime) -> list[Finding]:
    """A token that ends soon, or whose scopes leave something out."""
    found = forge_standing()
    if found is None:
        return []
    row, names = found.credential, (found.credential.credential_id,)
    told = []
    if row.expires_at is not None and row.expires_at - at < EXPIRING:
        text = f"the forge's token ends on {row.expires_at:%Y-%m-%d}"
        told.append(Finding("forge_token_expiring", 1, None, text, names, RENEW))
    if row.scopes is not None:
        missing = [scope for scope in NEEDED if scope not in row.scopes and f"admin:{scope[5:]}" not in row.scopes]
        for scope in missing:
            text = f"the forge's token lacks the scope {scope}: {NEEDED[scope]} may fail"
            told.append(Finding("forge_scope_missing", 1, None, text, names, RENEW, Level.NOTICE))
    return told


def reviewers_wrong(at: datetime) -> list[Finding]:
    """Reviewers that cannot be asked as the policy names them, and teams whose members cannot be read."""
    del at
    mend = "mend the reviewer in policy.yaml, then: manage.py sync_definitions --check"
    rows = ReviewerStatus.objects.select_related("repository").filter(misconfigured=True).order_by("id")[:MOST]
    told = [
        Finding(
            "reviewer_misconfigured",
            1,
            row.checked_at,
            f"the reviewer {row.reviewer} cannot be asked in {row.repository.full_name}: {row.detail}",
            (row.reviewer,),
            mend,
        )
        for row in rows
    ]
    told += [
        Finding("team_unreadable", 1, row.checked_at, f"the members of {row.team}: {row.fault}", (row.team,), mend)
        for row in ForgeTeam.objects.exclude(fault="").order_by("team")[:MOST]
    ]
    return told


def webhooks_silent(at: datetime) -> list[Finding]:
    """Deliveries are accepted and none came for a day in which polling found changes."""
    if not settings.FACTORY.webhook_secrets:
        return []
    newest = WebhookDelivery.objects.order_by("-id").values_list("at", flat=True).first()
    if newest is not None and at - newest < SILENT_FOR:
        return []
    recent = TransitionLog.objects.order_by("-id").values_list("actor", "at")[:MOST]
    moved = [instant for actor, instant in recent if actor == "poller" and at - instant < SILENT_FOR]
    if not moved:
        return []
    since = f"since {newest:%Y-%m-%d %H:%M} UTC" if newest else "at all"
    text = f"no webhook arrived {since}, though polling found changes"
    mend = f"check the webhook of the repositories: {settings.FACTORY.base_url}/hooks/github"
    names = tuple(TransitionLog.objects.filter(actor="poller").order_by("-id").values_list("subject", flat=True)[:1])
    return [Finding("webhooks_silent", 1, newest, text, names[:EXAMPLES], mend, Level.NOTICE)]


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    forge_unauthorised,
    forge_limited,
    forge_unreachable,
    forge_query_rejected,
    token_lacking,
    reviewers_wrong,
    webhooks_silent,
)
