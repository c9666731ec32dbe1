"""Admitting a run: every check before the first write, and one run for one idempotency key for ever."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from runs.clock import now
from runs.contract.canonical import bare_hex, canonical_bytes, document_hash
from runs.contract.errors import Invalid, Refused
from runs.contract.ids import run_id
from runs.contract.instants import format_instant
from runs.contract.schemas import schema_violation
from runs.contract.spec import LARGEST_INPUT, LARGEST_SPEC, check_spec, spec_value
from runs.definitions.stored import definition_document, schema_document
from runs.models import Artifact, Definition, RemovedRun, Run, RunInput, RunSpec
from runs.policy import policy
from runs.queue.journal import Step, run_move
from runs.queue.limits.balance import spec_limit
from runs.queue.notices import work_appeared
from runs.queue.placement import placement_class_for, requirement_of
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIORITY_STEP = timedelta(seconds=600)  # a step of priority is worth ten minutes of waiting, so nothing starves
MIDDLE_PRIORITY = 5
IDENTITY = ("runId", "createdAt")  # what two specifications of the same content may differ in


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The run of an idempotency key, and whether this call made it."""

    run: Run
    created: bool


def run_enqueue(*, spec: Mapping[str, Any], actor: str, subject_label: str = "") -> Enqueued:
    """Store the run and put it in the queue, or return the one that has its idempotency key.

    ``spec`` is `factory.run-spec/v1` without runId and createdAt, which are made here. Joins the caller's transaction
    or opens one. Raises Invalid (`invalid_spec`, `invalid_input`, `unknown_definition`, `artifact_missing`,
    `too_large`) and Refused (`proposal_required`, `idempotency_conflict`); then nothing is stored.
    """
    content_hash = document_hash({key: value for key, value in spec.items() if key not in IDENTITY})
    with joined_transaction():
        existing = Run.objects.filter(idempotency_key=spec.get("idempotencyKey", "")).first()
        if existing is not None:
            return _existing(existing, content_hash)
        _check_never_used(spec)
        at = now()
        document = {**spec, "runId": run_id(at), "createdAt": format_instant(at)}
        definition = _checked(document)
        run = _new_run(document, definition, content_hash=content_hash, subject_label=subject_label, at=at)
        reason = "flow_step" if spec["origin"]["kind"] == "flow" else "operator_start"
        run_move(run, "enqueue", Step(actor, reason, at))
        RunSpec.objects.create(run=run, canonical=canonical_bytes(document).decode())
        if inputs := _inputs(document):
            RunInput.objects.bulk_create(RunInput(run=run, artifact_id=sha256) for sha256 in sorted(inputs))
        work_appeared()
    return Enqueued(run, created=True)


def _existing(run: Run, content_hash: str) -> Enqueued:
    if run.content_hash != content_hash:
        raise Refused(
            "idempotency_conflict",
            f"{run.run_id} has this idempotency key and other content",
            details={"runId": run.run_id},
        )
    return Enqueued(run, created=False)


def _check_never_used(spec: Mapping[str, Any]) -> None:
    """A key is unique for ever, also once retention removed its run; a flow's keys hold a log row and never return."""
    if spec.get("origin", {}).get("kind") == "flow":
        return
    removed = RemovedRun.objects.filter(idempotency_key=spec.get("idempotencyKey", "")).first()
    if removed is not None:
        raise Refused(
            "idempotency_conflict",
            f"{removed.run_id} had this idempotency key and was removed by retention; choose another key",
            details={"runId": removed.run_id},
        )


def _checked(spec: Mapping[str, Any]) -> Definition:
    """Pass a specification that may be stored, with its definition; the first fault found is raised."""
    _check_sizes(spec)
    check_spec(spec)
    if spec_value(spec, "weightClass") not in policy().weight_classes:
        raise _invalid("weightClass", f"policy.yaml has no weight class {spec['weightClass']}")
    definition = Definition.objects.filter(def_hash=spec["defHash"], ref=spec["agent"], is_current=True).first()
    if definition is None:
        raise Invalid(
            "unknown_definition",
            f"{spec['agent']} with this content is not current; load it with: manage.py sync_definitions",
            details={"agent": spec["agent"], "defHash": spec["defHash"]},
        )
    _check_origin(spec, definition)
    _check_input(spec, definition_document(definition.def_hash))
    _check_artifacts(spec)
    return definition


def _check_origin(spec: Mapping[str, Any], definition: Definition) -> None:
    """Pass a step of a flow, and what an operator starts of an agent that only reads; the rest needs a proposal."""
    kind = spec["origin"]["kind"]
    if kind == "flow" and "flow" in spec:
        return
    if kind == "operator" and "flow" not in spec and not spec_value(spec, "mutating"):
        direct_start_check(definition)
        return
    message = f"a run of origin {kind} goes to the queue with an approved proposal only"
    raise Refused("proposal_required", message, details={"agent": definition.ref})


def direct_start_check(definition: Definition) -> None:
    """Pass an agent that a person may start without a proposal: no step of a flow, and it only reads."""
    if definition.kind == "event" and not definition.mutating:
        return
    why = "changes something outside its workspace" if definition.mutating else "is a step of a flow"
    message = f"{definition.ref} {why}, so it is not started directly"
    raise Refused("proposal_required", message, details={"agent": definition.ref})


def _check_sizes(spec: Mapping[str, Any]) -> None:
    for name, document, limit in (("spec", spec, LARGEST_SPEC), ("input", spec.get("input", {}), LARGEST_INPUT)):
        size = len(canonical_bytes(document))
        if size > limit:
            raise Invalid(
                "too_large",
                f"the {name} has {size} bytes; {limit} are allowed",
                details={"field": name, "limit": limit},
            )


def _check_input(spec: Mapping[str, Any], definition: Mapping[str, Any]) -> None:
    given = {key: value for key, value in spec["input"].items() if key != "pins"}  # pins are the planner's own
    violation = schema_violation(schema_document(definition["input"]), given)
    if violation is not None:
        message = f"the input does not fit the agent's input schema: {violation.path}: {violation.message}"
        raise Invalid("invalid_input", message, details={"path": violation.path})
    if spec["inputHash"] != document_hash(spec["input"]):
        raise _invalid("inputHash", "inputHash is not the hash of the input")


def _check_artifacts(spec: Mapping[str, Any]) -> None:
    """Every declared input is stored; its row stays locked, so that its removal sees the run that refers to it."""
    wanted = _inputs(spec)
    if not wanted:
        return
    stored = (
        Artifact.objects.select_for_update()
        .order_by("pk")
        .filter(sha256__in=wanted, quarantined_at__isnull=True, leaving_at__isnull=True)
    )
    missing = sorted(wanted - set(stored.values_list("sha256", flat=True)))
    if missing:
        raise Invalid("artifact_missing", f"no artifact {missing[0]} is stored", details={"sha256": missing})


def _inputs(spec: Mapping[str, Any]) -> set[str]:
    """The objects that the workspace declares, by their bare hashes."""
    return {bare_hex(entry["sha256"]) for entry in spec["workspace"].get("inputs", ())}


def _invalid(field: str, message: str) -> Invalid:
    return Invalid("invalid_spec", message, details={"path": f"$.{field}"})


def _new_run(
    spec: Mapping[str, Any], definition: Definition, *, content_hash: str, subject_label: str, at: datetime
) -> Run:
    requirement = requirement_of(spec)
    spec_hash = document_hash(spec)
    flow = spec.get("flow", {})
    priority = spec_value(spec, "priority")
    budget = spec_limit(spec)
    return Run(
        run_id=spec["runId"],
        agent_id=definition.agent_id,
        agent_ref=definition.ref,
        def_hash=definition.def_hash,
        spec_hash=spec_hash,
        content_hash=content_hash,
        idempotency_key=spec["idempotencyKey"],
        output_contract=spec["outputContract"],
        subject=spec["subject"],
        subject_label=subject_label,
        repository=spec.get("repository", ""),
        flow_type=flow.get("type", ""),
        flow_subject=flow.get("subject", ""),
        flow_generation=flow.get("generation"),
        flow_step=flow.get("step", ""),
        flow_entry=int(flow["entry"]) if flow else None,
        origin_kind=spec["origin"]["kind"],
        correlation_id=spec["correlationId"],
        causation_id=spec.get("causationId", ""),
        placement_class=placement_class_for(requirement, at),
        priority=priority,
        rank_at=at - (priority - MIDDLE_PRIORITY) * PRIORITY_STEP,
        queued_at=at,
        exclusive_key=spec.get("exclusiveKey", ""),
        mutating=spec_value(spec, "mutating"),
        result_policy=spec_value(spec, "resultPolicy"),
        timeout_seconds=spec["timeoutSeconds"],
        verify_seconds=spec_value(spec, "verifySeconds"),
        max_attempts=spec_value(spec, "maxAttempts"),
        max_environment_retries=spec_value(spec, "maxEnvironmentRetries"),
        budget_micro_usd=budget.micro_usd,
        budget_tokens=budget.tokens,
        journal_head=spec_hash,
        created_at=at,
    )
