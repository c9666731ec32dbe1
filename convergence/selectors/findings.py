"""What was found in each round, what people let pass, and what the gate said, for pages and the API."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from convergence.models import Finding, FindingStatus, FindingTrend, GateCheck, Waiver
from convergence.selectors.shapes import FindingCounts, FindingShown, GateCheckShown, StatusShown, WaiverShown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import PullRequest, Round

NEWEST = 200


def findings_counted(rounds: Sequence[Round]) -> Mapping[int, FindingCounts]:
    """The trends at the entry of each round by its key, one query; a round whose entry was not read has none."""
    counted: dict[int, dict[str, int]] = {each.pk: dict.fromkeys(FindingTrend.values, 0) for each in rounds}
    rows = FindingStatus.objects.filter(round__in=[each.pk for each in rounds])
    for key, trend in rows.values_list("round_id", "trend"):
        counted[key][trend] += 1
    return {
        each.pk: FindingCounts(
            open=counted[each.pk]["new"] + counted[each.pk]["repeat"] + counted[each.pk]["reopened"],
            **counted[each.pk],
        )
        for each in rounds
        if each.entry_read
    }


def findings_shown(pull: PullRequest, generation: int) -> list[FindingShown]:
    """The findings of a generation with their history, the open ones first; two queries."""
    rows = list(
        Finding.objects.filter(pull=pull, generation=generation).order_by("-is_open", "-reopened_count", "id")[:NEWEST]
    )
    history: dict[int, list[StatusShown]] = defaultdict(list)
    statuses = FindingStatus.objects.filter(finding__in=[row.pk for row in rows]).order_by("round__number")
    for key, number, trend, how in statuses.values_list("finding_id", "round__number", "trend", "how"):
        history[key].append(StatusShown(number, trend, how))
    return [
        FindingShown(
            kind=row.kind,
            id=row.forge_id,
            fingerprint=row.fingerprint,
            author=row.author,
            path=row.path,
            text=row.text,
            url=row.url,
            is_open=row.is_open,
            closed_as=row.closed_as,
            reopened=row.reopened_count,
            history=history[row.pk],
        )
        for row in rows
    ]


def waivers_shown(pull: PullRequest, generation: int) -> list[WaiverShown]:
    """What people let pass in a generation, the newest first."""
    rows = Waiver.objects.filter(pull=pull, generation=generation).order_by("-id")[:NEWEST]
    return [
        WaiverShown(
            head=row.head,
            kind=row.kind,
            target=row.target,
            escalation_id=row.escalation_id,
            given_by=row.given_by,
            given_at=row.given_at,
            ended_at=row.ended_at,
        )
        for row in rows
    ]


def gate_checks_shown(pull: PullRequest) -> list[GateCheckShown]:
    """What the gate read and said, the newest first, of all submissions."""
    rows = GateCheck.objects.filter(pull=pull).order_by("-id")[:NEWEST]
    return [
        GateCheckShown(
            generation=row.generation,
            round=row.round,
            result=row.result,
            reason=row.reason,
            head=row.head,
            counts=row.counts,
            left=row.left,
            waived=row.waived,
            at=row.at,
        )
        for row in rows
    ]
