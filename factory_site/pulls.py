"""One pull request as the API and the page show it: what convergence and merging each know of it, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.selectors.detail import pull_detail
from convergence.selectors.shapes import wire
from merging.selectors import merge_detail

if TYPE_CHECKING:
    from convergence.models import PullRequest


def pull_document(pull: PullRequest) -> dict[str, Any]:
    """The detail of the API: rounds, escalations, transitions, runs, merge attempts, and why it waits."""
    document: dict[str, Any] = wire(pull_detail(pull))
    merge = merge_detail(pull)
    document["transitions"] = [_transition(row) for row in document["transitions"]]
    document["counters"] = {**document["counters"], **merge.pop("counters")}
    return {**document, **merge}


def _transition(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the wire's names of where it came from and where it went."""
    return {("from" if key == "fromState" else "to" if key == "toState" else key): row[key] for key in row}
