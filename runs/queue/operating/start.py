"""Starting a run of an agent that only reads, because a person says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError

from runs.clock import now
from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid, Refused
from runs.contract.ids import ulid
from runs.contract.spec import SPEC_VERSION
from runs.definitions.stored import definition_current, definition_document
from runs.models import Run
from runs.queue.enqueue import Enqueued, direct_start_check, run_enqueue
from runs.queue.spec_fields import definition_fields
from runs.subjects import subject_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.models import Definition

KEY = re.compile(r"[!-~]{1,150}")
LONGEST_SUBJECT = 200  # characters


def run_start(*, agent: str, variables: Any, actor: str, subject: str = "", key: str = "") -> Enqueued:
    """Queue a run of this agent (`id@version`, or an id for its newest version) with these input variables.

    ``key`` makes a repeated request the same run. Without a ``subject`` the run is about itself. Raises what
    `run_enqueue` raises, Invalid `unknown_definition` and `invalid_field`, and Refused `proposal_required` for an agent
    that changes something or is a step of a flow, `idempotency_conflict` for a known key with another request.
    """
    if not isinstance(variables, dict):
        raise Invalid("invalid_input", "$: the input is a JSON object", details={"path": "$"})
    if key and not KEY.fullmatch(key):
        message = "Idempotency-Key has 1 to 150 visible ASCII characters."
        raise Invalid("invalid_field", message, details={"field": "Idempotency-Key"})
    if len(subject) > LONGEST_SUBJECT:
        message = f"subject has at most {LONGEST_SUBJECT} characters."
        raise Invalid("invalid_field", message, details={"field": "subject"})
    identity = f"operator:{key or ulid(now())}"
    about = subject_reference(subject) if subject else identity
    known = _known(identity, agent, variables, about)
    if known is not None:
        return known
    row = definition_current(ref=agent) if "@" in agent else definition_current(agent_id=agent)
    direct_start_check(row)
    spec = start_spec(row, variables, subject=about, identity=identity)
    try:
        return run_enqueue(spec=spec, actor=actor, subject_label=subject or row.ref)
    except IntegrityError:  # the same request, sent twice at once: the other one has committed
        known = _known(identity, agent, variables, about)
        if known is None:
            raise
        return known


def start_spec(
    row: Definition, variables: Mapping[str, Any], *, subject: str, identity: str, **more: Any
) -> dict[str, Any]:
    """The specification of a run that a person starts, filled from the definition; ``more`` fields are added."""
    definition = definition_document(row.def_hash)
    spec: dict[str, Any] = {
        "schemaVersion": SPEC_VERSION,
        **definition_fields(row, definition),
        "input": dict(variables),
        "inputHash": document_hash(dict(variables)),
        "subject": subject,
        "origin": {"kind": "operator"},
        "correlationId": identity,
        "workspace": definition.get("workspace", {"kind": "ephemeral"}),
        "idempotencyKey": identity,
        **more,
    }
    if definition.get("placement"):
        spec["placement"] = definition["placement"]
    return spec


def _known(identity: str, agent: str, variables: Mapping[str, Any], subject: str) -> Enqueued | None:
    """The run that this key started, if it did; what is compared is what was asked, whatever is current by now."""
    run = Run.objects.select_related("spec_row").filter(idempotency_key=identity).first()
    if run is None:
        return None
    same_agent = agent in {run.agent_id, run.agent_ref}
    spec = run.spec_row.document
    if not same_agent or spec["inputHash"] != document_hash(dict(variables)) or spec["subject"] != subject:
        message = f"{run.run_id} was started with this Idempotency-Key and another request"
        raise Refused("idempotency_conflict", message, details={"runId": run.run_id})
    return Enqueued(run, created=False)
