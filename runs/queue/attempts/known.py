"""A run as a submission is checked against it, read at once and without a lock: nothing of it ever changes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runs.contract.errors import NotFound
from runs.rows.direct import row_of

# The node is compared behind the sum, so that no planner goes through everything that the node has ever held.
KNOWN = """
SELECT r.id, r.spec_hash, r.def_hash, r.output_contract, r.result_policy, s.canonical,
(SELECT k.id FROM runs_attempt AS k WHERE k.node = %s AND k.result_key = %s AND NOT (k.result_key = ''))
FROM runs_run AS r JOIN runs_runspec AS s ON s.run_id = r.id
WHERE r.run_id = %s
AND (SELECT sum(CASE WHEN a.node = %s THEN 1 ELSE 0 END) FROM runs_attempt AS a WHERE a.run_id = r.id) > 0
"""


@dataclass(frozen=True, slots=True)
class KnownRun:
    """What was fixed when the run was queued, and the attempt whose outcome came under the key in hand."""

    pk: int
    run_id: str
    spec_hash: str
    def_hash: str
    output_contract: str
    result_policy: str
    spec: dict[str, Any]
    published_by: int | None  # key of the attempt


def run_known(run_id: str, *, node: str, result_key: str) -> KnownRun:
    """The run, if this node holds or has held an attempt of it; else NotFound, before anything else is said of it."""
    found = row_of(KNOWN, [node, result_key, run_id, node])
    if found is None:
        raise NotFound("not_found", f"node {node} holds no attempt of {run_id[:64]}")
    pk, spec_hash, def_hash, output_contract, result_policy, canonical, published_by = found
    spec = json.loads(canonical)
    return KnownRun(pk, run_id, spec_hash, def_hash, output_contract, result_policy, spec, published_by)
