"""What a definition contributes to the specification of each of its runs, whoever asks for the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.spec import DEFAULTS, FLOW_DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.models import Definition


def definition_fields(row: Definition, definition: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run specification that the definition decides, its document being the normalised one."""
    defaults = FLOW_DEFAULTS if row.kind == "flow" else DEFAULTS
    limits = definition.get("limits", {})
    fields: dict[str, Any] = {
        "agent": row.ref,
        "defHash": row.def_hash,
        "promptBinding": row.prompt_binding,
        "outputContract": row.output_contract,
        "adapter": row.adapter,
        "mutating": row.mutating,
        "weightClass": definition.get("weightClass", defaults["weightClass"]),
        "priority": definition.get("priority", defaults["priority"]),
        "resultPolicy": definition.get("resultPolicy", defaults["resultPolicy"]),
    }
    for name in ("timeoutSeconds", "verifySeconds", "maxAttempts", "maxEnvironmentRetries"):
        fields[name] = limits.get(name, defaults[name])
    for name, key in (("budget", "budget"), ("artifacts", "artifactLimits")):
        if limits.get(name):
            fields[key] = limits[name]
    for name in ("capabilities", "harness", "sandbox", "verify"):
        if definition.get(name):
            fields[name] = definition[name]
    if row.prompt_binding == "pinned" and definition.get("prompt"):
        fields["promptHash"] = definition["prompt"]["hash"]
    model = definition.get("model", {})
    if model.get("tier"):
        fields["modelTier"] = model["tier"]
    if model.get("name"):
        fields["model"] = model["name"]
    return fields
