"""The typed form of a task as controls of a page, and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from factory_site.console.wording.texts import fault_sentence, number_help
from runs.humans.forms import MOST_TEXT, SHOWN_ONLY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_RADIOS = 6  # choices up to which all of them stand on the page
YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice."""

    value: str
    label: str
    description: str = ""
    tone: str = "neutral"
    is_recommended: bool = False
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """One field as the page draws it; `shape` names the control, `needed_for` the choices that make it required."""

    id: str
    shape: str
    label: str
    help: str
    value: str
    is_required: bool
    error: str
    most: int = 0
    options: Sequence[Option] = ()
    needed_for: Sequence[str] = ()
    default_word: str = ""
    minimum: object = ""
    maximum: object = ""
    step: str = "any"
    attributes: Mapping[str, str] = field(default_factory=dict)


def controls(form: Mapping[str, Any], typed: Mapping[str, Any] | None, wrong: Mapping[str, str]) -> list[Control]:
    """Every field of the form, filled with what was typed, else with its default."""
    fields = form.get("fields", [])
    labels = _choice_labels(fields)
    return [_control(each, typed, wrong, labels) for each in fields]


def _choice_labels(fields: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    return {
        (each["id"], choice["id"]): choice.get("label", choice["id"])
        for each in fields
        for choice in each.get("choices", [])
    }


def _control(
    each: Mapping[str, Any],
    typed: Mapping[str, Any] | None,
    wrong: Mapping[str, str],
    labels: Mapping[tuple[str, str], str],
) -> Control:
    kind, name = each["kind"], each["id"]
    default = each.get("default")
    filled_in = each.get("proposed", default)  # proposed is typed for the person, who may change it
    value = each.get("value", "") if kind in SHOWN_ONLY else (typed.get(name, "") if typed is not None else filled_in)
    text = _text(value)
    options = _options(each, text)
    needed_for = [
        labels.get((other, choice), choice)
        for other, choices in each.get("requiredWhen", {}).items()
        for choice in choices
    ]
    return Control(
        id=name,
        shape=_shape(kind, len(options)),
        label=each.get("label", name),
        help=each.get("help", "") or (number_help(each) if kind == "number" else ""),
        value=text,
        is_required=bool(each.get("required")),
        error=wrong.get(name, ""),
        most=each.get("maxLength", MOST_TEXT.get(kind, 0)),
        options=options,
        needed_for=needed_for,
        default_word=labels.get((name, _text(default)), _text(default)) if default is not None else "",
        minimum=each.get("minimum", ""),
        maximum=each.get("maximum", ""),
        step="1" if each.get("integer") else "any",
    )


def _shape(kind: str, options: int) -> str:
    if kind == "choice":
        return "radios" if options <= MOST_RADIOS else "select"
    return "radios" if kind == "boolean" else kind


def _options(each: Mapping[str, Any], chosen: str) -> list[Option]:
    if each["kind"] == "boolean":
        return [Option(value, value.capitalize(), is_chosen=value == chosen) for value in YES_NO]
    return [
        Option(
            value=choice["id"],
            label=choice.get("label", choice["id"]),
            description=choice.get("description", ""),
            tone=choice.get("tone", "neutral"),
            is_recommended=bool(choice.get("recommended")),
            is_chosen=choice["id"] == chosen,
        )
        for choice in each.get("choices", [])
    ]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def typed_answer(form: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, Any]:
    """The variables of a sent form: a field left blank is left out; a number that is none stays text and is refused."""
    answer: dict[str, Any] = {}
    for each in form.get("fields", []):
        text = sent.get(each["id"], "").strip()
        if not text or each["kind"] in SHOWN_ONLY:
            continue
        if each["kind"] == "boolean":
            answer[each["id"]] = YES_NO.get(text, text)
        elif each["kind"] == "number":
            answer[each["id"]] = _number(text)
        else:
            answer[each["id"]] = text.replace("\r\n", "\n")
    return answer


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def wrong_fields(form: Mapping[str, Any], faults: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, str]:
    """A sentence for each wrong field."""
    by_name = {each["id"]: each for each in form.get("fields", [])}
    return {
        name: fault_sentence(by_name[name], fault, sent.get(name, "").strip()) if name in by_name else fault
        for name, fault in faults.items()
    }
