"""What a person lets pass at one head: exactly what the task listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.models import Waiver

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.decisions.reviews import Waived
    from convergence.models import ConvergenceFlow, Escalation


def waivers_give(escalation: Escalation, now: datetime) -> int:
    """Let pass what the question listed at the head that it named, in the caller's transaction; return of how much."""
    head = str(escalation.waivable.get("head", ""))
    targets = [(str(kind), str(target)) for kind, target in escalation.waivable.get("targets", ())]
    for kind, target in targets if head else ():
        Waiver.objects.get_or_create(
            pull=escalation.pull,
            generation=escalation.generation,
            head=head,
            kind=kind,
            target=target,
            ended_at=None,
            defaults={"escalation": escalation, "given_by": escalation.task.answered_by, "given_at": now},
        )
    return len(targets) if head else 0


def waived_at(row: ConvergenceFlow, head: str | None) -> Waived:
    """What people let pass at this head in the row's generation; nothing at an unknown one."""
    if head is None:
        return frozenset()
    rows = Waiver.objects.filter(pull=row.pull_id, generation=row.generation, head=head, ended_at__isnull=True)
    return frozenset(rows.values_list("kind", "target"))
