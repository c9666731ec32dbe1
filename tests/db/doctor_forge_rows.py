"""Faults of the forge and of what stands in files, in the form of the other rows: provoker, sentence, mend."""

from datetime import timedelta
from functools import partial
from unittest.mock import patch

from django.conf import settings
from django.test import override_settings
from pydantic import SecretStr

import runs.policy
from convergence.forge.governor.account import ALL, CORE, GRAPHQL
from convergence.forge.governor.purposes import Level
from convergence.models import ForgeBudget, ForgeCredential, ForgeTeam, ReviewerStatus
from factory_site.doctor.forge import webhooks_silent as webhooks_silent_check
from runs.contract.tokens import TokenSource
from runs.models import TransitionLog, WebhookDelivery
from runs.policy import policy
from tests.db.kernel.pulls import pull_made
from tests.db.rows import Rows, ago, now

CREDENTIAL = "0123456789ab"


def credential(**columns):
    fields = {"source": "GITHUB_TOKEN", "kind": "classic", "checked_at": now(), **columns}
    return ForgeCredential.objects.create(credential_id=CREDENTIAL, **fields)


def credential_with(mended, **columns):
    credential(**columns)
    return partial(ForgeCredential.objects.update, **mended)


def account_with(resource, mended, **columns):
    """What the governor has noted of one resource of the credential in use."""
    credential()
    ForgeBudget.objects.create(credential_id=CREDENTIAL, resource=resource, **columns)
    return partial(ForgeBudget.objects.update, **mended)


def settings_with(**fields):
    """This process with other settings, until the mend."""
    changed = override_settings(FACTORY=settings.FACTORY.model_copy(update=fields))
    changed.enable()
    return changed.disable


def token_absent():
    nowhere = TokenSource("https://github.com", {}, cli=lambda *_: "")
    patched = patch.object(TokenSource, "token", nowhere.token)
    patched.start()
    return patched.stop


def policy_broken():
    """The last good one stays in use."""
    policy()
    seconds, runs.policy.RELOAD_SECONDS = runs.policy.RELOAD_SECONDS, 0.0
    path = settings.FACTORY.home / "policy.yaml"
    path.write_text("convergence: {maxRounds: many}\n")

    def mend():
        path.unlink()
        policy()
        runs.policy.RELOAD_SECONDS = seconds

    return mend


def reviewer_wrong():
    ReviewerStatus.objects.create(
        repository=pull_made(12).repository,
        reviewer="acme/nobody",
        misconfigured=True,
        detail="Not Found",
        checked_at=now(),
    )
    return partial(ReviewerStatus.objects.update, misconfigured=False)


def team_unreadable():
    ForgeTeam.objects.create(team="acme/core", fault="403: read:org is missing", checked_at=now())
    return partial(ForgeTeam.objects.update, fault="")


def webhooks_silent():
    """Deliveries are accepted, none came, and polling has found a change."""
    pull = pull_made(12)
    TransitionLog.objects.create(
        flow="convergence",
        flow_row=1,
        subject=pull.subject,
        generation=1,
        to_state="await_review",
        edge="submit",
        event="submit",
        actor="poller",
        at=now(),
    )
    restored = settings_with(github_webhook_secret=SecretStr("of-the-test"))

    def mend():
        delivered = {"source": "github", "delivery_id": "d-1", "kind": "pull_request", "body_hash": "sha256:0"}
        WebhookDelivery.objects.create(**delivered, at=now())
        assert webhooks_silent_check(now()) == [], "a delivery mends it, not only other settings"
        restored()

    return mend


FORGE_ROWS: Rows = {
    "forge_unauthorised": (token_absent, "no token for github.com: tried GITHUB_TOKEN", "gh auth login"),
    "forge_limited": (
        partial(
            account_with,
            CORE,
            {"level": Level.NORMAL},
            limit=5000,
            remaining=300,
            level=Level.RESERVE,
            reset_at=now() + timedelta(hours=1),
            scarce_since=ago(minutes=11),
        ),
        "the forge limits us (reserve): 300 of 5000 requests are left",
        "FACTORY_POLL_SECONDS in settings.env",
    ),
    "forge_unreachable": (
        partial(account_with, ALL, {"failing_since": None}, failing_since=ago(minutes=4)),
        "has not answered since",
        "curl -sI ",
    ),
    "forge_query_rejected": (
        partial(
            account_with,
            GRAPHQL,
            {"defect_at": ago(hours=25)},
            defect="Field 'mergeable' does not exist",
            defect_at=now(),
        ),
        "the forge rejects a query of the product: Field 'mergeable' does not exist",
        "update Factory",
    ),
    "forge_token_expiring": (
        partial(credential_with, {"expires_at": now() + timedelta(days=90)}, expires_at=now() + timedelta(days=6)),
        "the forge's token ends on ",
        "set GITHUB_TOKEN in settings.env",
    ),
    "forge_scope_missing": (
        partial(credential_with, {"scopes": ["repo", "read:org"]}, scopes=["repo"]),
        "lacks the scope read:org: reviews by teams may fail",
        "set GITHUB_TOKEN in settings.env",
    ),
    "reviewer_misconfigured": (
        reviewer_wrong,
        "the reviewer acme/nobody cannot be asked in acme/shop: Not Found",
        "mend the reviewer in policy.yaml",
    ),
    "team_unreadable": (
        team_unreadable,
        "the members of acme/core: 403: read:org is missing",
        "mend the reviewer in policy.yaml",
    ),
    "webhooks_silent": (
        webhooks_silent,
        "no webhook arrived at all, though polling found changes",
        "check the webhook of the repositories: ",
    ),
    "settings_invalid": (
        partial(settings_with, settings_invalid=("FACTORY_REVIEW_WAIT_TIMEOUT: 'soon' is not an ISO-8601 duration",)),
        "FACTORY_REVIEW_WAIT_TIMEOUT: 'soon' is not",
        "edit settings.env, then manage.py serve",
    ),
    "registry_invalid": (policy_broken, "policy.yaml", "edit policy.yaml in the data folder"),
}
