"""Typed forms: what a person may answer, checked field by field. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_FIELDS = 8
MOST_TEXT = {"text": 280, "long_text": 20_000}  # characters
SHOWN_ONLY = frozenset({"readonly", "link", "code"})


def answer_check(form: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the complete answer, defaults filled in and text trimmed.

    Raises ``Invalid`` ``invalid_answer`` whose details name each wrong field and how: required, unknown_field,
    wrong_kind, out_of_range, not_a_choice, not_applicable.
    """
    fields = {field["id"]: field for field in form.get("fields", []) if field["kind"] not in SHOWN_ONLY}
    wrong: dict[str, str] = {name: "unknown_field" for name in variables if name not in fields}
    answer: dict[str, Any] = {}
    for name, field in fields.items():
        value = variables.get(name, field.get("default"))
        if isinstance(value, str) and field["kind"] in MOST_TEXT:
            value = value.strip()
        if value in (None, ""):
            continue
        fault = _fault(field, value)
        if fault:
            wrong[name] = fault
        else:
            answer[name] = value
    for name, field in fields.items():
        if name not in answer and name not in wrong and _needed(field, answer):
            wrong[name] = "required"
    if wrong:
        named = ", ".join(f"{name}: {fault.replace('_', ' ')}" for name, fault in sorted(wrong.items()))
        raise Invalid("invalid_answer", f"The answer does not fit the form ({named}).", details={"fields": wrong})
    return answer


def _needed(field: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    if field.get("required"):
        return True
    conditions: Mapping[str, Any] = field.get("requiredWhen", {})
    return any(answer.get(other) in choices for other, choices in conditions.items())


def _fault(field: Mapping[str, Any], value: Any) -> str:
    """What is wrong with one value, blank when nothing is."""
    kind = field["kind"]
    if kind in MOST_TEXT:
        if not isinstance(value, str):
            return "wrong_kind"
        return "out_of_range" if len(value) > field.get("maxLength", MOST_TEXT[kind]) else ""
    if kind == "choice":
        return "" if value in {choice["id"] for choice in field["choices"]} else "not_a_choice"
    if kind == "boolean":
        return "" if isinstance(value, bool) else "wrong_kind"
    if kind == "number":
        return _number_fault(field, value)
    return "wrong_kind"


def _number_fault(field: Mapping[str, Any], value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "wrong_kind"
    is_no_number = isinstance(value, float) and not math.isfinite(value)
    if is_no_number or (field.get("integer") and not isinstance(value, int)):
        return "wrong_kind"
    low, high = field.get("minimum", value), field.get("maximum", value)
    return "" if low <= value <= high else "out_of_range"


def form_check(form: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for a form that no person could answer: a defect of ours, found when it is made."""
    fields = form.get("fields", [])
    names = [field["id"] for field in fields]
    if len(fields) > MOST_FIELDS or len(set(names)) != len(names):
        raise ValueError(f"a form has at most {MOST_FIELDS} fields with different ids, not {names}")
    for field in fields:
        if field["kind"] not in {*MOST_TEXT, *SHOWN_ONLY, "choice", "boolean", "number"}:
            raise ValueError(f"field {field['id']} has the unknown kind {field['kind']}")
        if field["kind"] == "choice" and not field.get("choices"):
            raise ValueError(f"field {field['id']} has no choices")
