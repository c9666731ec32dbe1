"""Kept answers of the forge in the database, and what is thrown away of them."""

from __future__ import annotations

import json
from datetime import timedelta

from django.db.models import Sum

from convergence.forge.kept import KeptAnswer
from convergence.models import ForgeCache
from runs.clock import now as clock_now

UNUSED_FOR = timedelta(days=7)
MOST_BYTES = 256 * 1024 * 1024
LARGEST = 1024 * 1024  # a larger answer is read anew each time
LONGEST_URL, LONGEST_ETAG = 1000, 200  # characters, of the columns
PRUNED_AT_ONCE = 500


class SharedShelf:
    """Answers as rows; losing one costs a request."""

    def find(self, url: str, credential: str) -> KeptAnswer | None:
        """Return the answer that was kept last."""
        row = ForgeCache.objects.filter(url=url, credential_id=credential).first()
        return KeptAnswer(row.etag, json.loads(row.body), row.checked_at) if row else None

    def keep(self, url: str, credential: str, answer: KeptAnswer) -> None:
        """Keep the answer in place of an older one."""
        body = json.dumps(answer.body)
        if len(body) > LARGEST or len(url) > LONGEST_URL or len(answer.etag) > LONGEST_ETAG:
            return
        told = {"etag": answer.etag, "body": body, "size": len(body), "checked_at": answer.checked_at}
        ForgeCache.objects.update_or_create(
            url=url, credential_id=credential, defaults={**told, "used_at": answer.checked_at}
        )


def answers_prune() -> int:
    """Throw away what nobody used for a week, and the least used of what is too much; return how many."""
    gone, _ = ForgeCache.objects.filter(used_at__lt=clock_now() - UNUSED_FOR).delete()
    while (ForgeCache.objects.aggregate(bytes=Sum("size"))["bytes"] or 0) > MOST_BYTES:
        oldest = list(ForgeCache.objects.order_by("used_at").values_list("pk", flat=True)[:PRUNED_AT_ONCE])
        gone += ForgeCache.objects.filter(pk__in=oldest).delete()[0]
    return gone
