"""Texts quoted from ended pull requests: forgotten by policy, while what was decided about them stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.flow import FINAL_PULL_STATES
from convergence.models import Finding, RoundTurn
from runs.retention.rules import BATCH, Rule, register_rule
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

FORGOTTEN = {"forgotten": True}  # instead of a turn's backlog; its hash stays


class QuotedTexts:
    """Backlogs of turns and first words of findings, of pull requests that ended before."""

    def count(self, before: datetime) -> int:
        """How many turns and findings still hold such texts."""
        return _turns(before).count() + _findings(before).count()

    def remove_some(self, before: datetime) -> int:
        """Forget at most 500 of each in a transaction; return how many, 0 when none is left."""
        turns = list(_turns(before).values_list("pk", flat=True)[:BATCH])
        findings = list(_findings(before).values_list("pk", flat=True)[:BATCH])
        if not turns and not findings:
            return 0
        with write_transaction():
            RoundTurn.objects.filter(pk__in=turns).update(backlog=FORGOTTEN, replies=[], acks=[])
            Finding.objects.filter(pk__in=findings).update(text="")
        return len(turns) + len(findings)


def register_review_rules() -> None:
    """Have the texts pruned by ``retention.quotedTextDays``."""
    register_rule(Rule("quoted_texts", "quoted_text_days", "texts quoted from ended pull requests", QuotedTexts()))


def _turns(before: datetime) -> QuerySet[RoundTurn]:
    ended = RoundTurn.objects.filter(round__pull__state__in=FINAL_PULL_STATES, round__pull__updated_at__lt=before)
    return ended.exclude(backlog=FORGOTTEN).order_by("pk")


def _findings(before: datetime) -> QuerySet[Finding]:
    ended = Finding.objects.filter(pull__state__in=FINAL_PULL_STATES, pull__updated_at__lt=before)
    return ended.exclude(text="").order_by("pk")
