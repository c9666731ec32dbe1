"""Agents and their prompts: what each is told, and what each wording did."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

from runs.clock import now
from runs.contract.errors import NotFound
from runs.definitions.stored import document_content, references
from runs.models import Attempt, AttemptOutcome, Definition, Prompt, PromptVersion, Run, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

DAYS = 7
FEWEST = 5  # below this many cases no median is shown
SAMPLE = 1_000  # attempts that figures are computed from, the newest
VERSIONS = 100
TABS = {"definition": "Definition", "prompt": "Prompt", "versions": "Versions", "schemas": "Schemas", "runs": "Runs"}
KEYS = {
    "id": "id",
    "version": "version",
    "kind": "kind",
    "outputContract": "result contract",
    "adapter": "adapter",
    "model": "model",
    "workspace": "workspace",
    "capabilities": "capabilities",
    "placement": "labels that it needs",
    "repositories": "repositories",
    "limits": "limits",
    "verify": "checks afterwards",
    "resultPolicy": "when the result is missing",
    "weightClass": "weight",
    "priority": "priority, 0 first",
    "mutating": "writes",
    "outsideText": "reads text from outside",
    "promptBinding": "prompt",
}
BINDINGS = {"latest": "the live one at each claim", "pinned": "the one of its definition"}


@dataclass(frozen=True, slots=True)
class Figures:
    """What an agent did in the window; None where too few cases say nothing."""

    runs: int
    completed: int
    median_seconds: float | None
    median_cost: int | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One current definition with its live prompt and its figures."""

    definition: Definition
    prompt_hash: str
    live_since: datetime | None
    figures: Figures


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One time a wording was made live, until when, and what runs under it did."""

    version: PromptVersion
    until: datetime | None
    is_live: bool
    attempts: int
    completed: int


def agent_rows() -> list[AgentRow]:
    """Every current definition by name; five queries."""
    definitions = list(Definition.objects.filter(is_current=True).order_by("agent_id", "-version"))
    prompts = {prompt.name: prompt for prompt in Prompt.objects.all()}
    figures = _figures([definition.ref for definition in definitions])
    since = _live_since(list(prompts.values()))
    return [
        AgentRow(
            definition=each,
            prompt_hash=prompts[each.prompt_name].current_hash if each.prompt_name in prompts else "",
            live_since=since.get(each.prompt_name),
            figures=figures[each.ref],
        )
        for each in definitions
    ]


def _live_since(prompts: Sequence[Prompt]) -> dict[str, datetime]:
    live = {prompt.name: prompt.current_hash for prompt in prompts}
    versions = PromptVersion.objects.filter(prompt__in=live).order_by("id").values_list("prompt_id", "hash", "at")
    return {name: at for name, content_hash, at in versions if live.get(name) == content_hash}


def _figures(refs: Sequence[str]) -> dict[str, Figures]:
    """Seven days of attempts and their costs in two queries, at most the newest thousand."""
    since = now() - timedelta(days=DAYS)
    attempts = list(
        Attempt.objects.filter(agent_ref__in=refs, finished_at__gte=since)
        .order_by("-finished_at")
        .values_list("agent_ref", "run_id", "outcome", "started_at", "finished_at", "pk")[:SAMPLE]
    )
    used = Usage.objects.filter(attempt__in=[row[5] for row in attempts]).values_list("attempt_id", "cost_micro_usd")
    costs = {attempt: cost for attempt, cost in used if cost is not None}
    found = {}
    for ref in refs:
        own = [row for row in attempts if row[0] == ref]
        good = [row for row in own if row[2] == AttemptOutcome.COMPLETED]
        lengths = [(row[4] - row[3]).total_seconds() for row in good if row[3] and row[4]]
        spent = [costs[row[5]] for row in good if row[5] in costs]
        found[ref] = Figures(
            runs=len({row[1] for row in own}),
            completed=len({row[1] for row in good}),
            median_seconds=median(lengths) if len(lengths) >= FEWEST else None,
            median_cost=int(median(spent)) if len(spent) >= FEWEST else None,
            last_at=own[0][4] if own else None,
        )
    return found


def agent_find(ref: str) -> Definition:
    """The definition of `id@version`, or of the newest version of `id`; raises ``NotFound`` unknown_agent."""
    rows = Definition.objects.filter(ref=ref) if "@" in ref else Definition.objects.filter(agent_id=ref)
    found = rows.order_by("-is_current", "-version", "-id").first()
    if found is None:
        raise NotFound("unknown_agent", f"There is no agent {ref}.")
    return found


def agent_row(definition: Definition) -> AgentRow:
    """One definition as a row, current or not; four queries."""
    prompt = Prompt.objects.filter(name=definition.prompt_name).first()
    return AgentRow(
        definition=definition,
        prompt_hash=prompt.current_hash if prompt else "",
        live_since=_live_since([prompt]).get(prompt.name) if prompt else None,
        figures=_figures([definition.ref])[definition.ref],
    )


def definition_document(definition: Definition) -> dict[str, Any]:
    """The definition as it is stored, with its defaults."""
    content = document_content(definition.def_hash)
    loaded: dict[str, Any] = json.loads(content) if content else {}
    return loaded


def definition_words(definition: Definition) -> list[tuple[str, str]]:
    """Every key of the definition in words."""
    document = definition_document(definition)
    found = [(word, _value(name, document[name])) for name, word in KEYS.items() if name in document]
    return [*found, ("comes from", f"the {definition.layer} folder")]


def _value(name: str, value: Any) -> str:
    if name == "promptBinding":
        return BINDINGS.get(value, str(value))
    if name == "repositories" and value == ["*"]:
        return "every repository"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "\n".join(f"{_spaced(key)}: {_value('', each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_value("", each) for each in value) or "none"
    return str(value)


def _spaced(name: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def former_definitions(definition: Definition) -> list[Definition]:
    """Other contents and versions of this agent, the newest first."""
    return list(
        Definition.objects.filter(agent_id=definition.agent_id)
        .exclude(pk=definition.pk)
        .order_by("-version", "-id")[:50]
    )


def schema_texts(definition: Definition) -> list[tuple[str, str, str]]:
    """Name, hash and text of every document that the definition names beside its prompt."""
    found = []
    for each in references(definition_document(definition)):
        content = document_content(each["hash"])
        text = json.dumps(json.loads(content), indent=2) if content and each["kind"] == "schema" else ""
        found.append((each["name"], each["hash"], text or (content.decode(errors="replace") if content else "removed")))
    return found


def prompt_text(content_hash: str) -> str:
    """The text of a wording; blank when it is not stored."""
    content = document_content(content_hash) if content_hash else None
    return content.decode(errors="replace") if content else ""


def prompt_of(definition: Definition) -> tuple[Prompt | None, str]:
    """The prompt of a definition and the hash that its runs get now."""
    prompt = Prompt.objects.filter(name=definition.prompt_name).first()
    pinned = str((definition_document(definition).get("prompt") or {}).get("hash", ""))
    return prompt, pinned or (prompt.current_hash if prompt else "")


def prompt_versions(prompt: Prompt) -> list[VersionRow]:
    """Every time a wording was made live, the newest first, with what was done under it; two queries."""
    versions = list(PromptVersion.objects.filter(prompt=prompt).order_by("-id")[:VERSIONS])
    refs = Definition.objects.filter(prompt_name=prompt.name).values("ref")
    attempts = list(
        Attempt.objects.filter(agent_ref__in=refs, finished_at__isnull=False)
        .order_by("-finished_at")
        .values_list("prompt_hash", "outcome")[:SAMPLE]
    )
    rows = []
    until: datetime | None = None
    for index, version in enumerate(versions):
        own = [outcome for content_hash, outcome in attempts if content_hash == version.hash]
        rows.append(
            VersionRow(version, until, index == 0, len(own), sum(1 for each in own if each == AttemptOutcome.COMPLETED))
        )
        until = version.at
    return rows


def prompt_difference(old: str, new: str) -> list[tuple[str, str]]:
    """Lines of a unified comparison of two wordings, each with its sign: `+`, `-`, ` ` or `@`."""
    lines = difflib.unified_diff(prompt_text(old).splitlines(), prompt_text(new).splitlines(), lineterm="", n=3)
    return [(line[:1], line[1:]) for line in lines if not line.startswith(("---", "+++"))]


def agent_runs(definition: Definition) -> list[Run]:
    """The newest runs of this agent, whatever the version."""
    return list(Run.objects.filter(agent_id=definition.agent_id).select_related("placement_class").order_by("-id")[:50])
