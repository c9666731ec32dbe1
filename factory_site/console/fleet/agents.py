"""Agents and their prompts, to be read: what an agent is told, and what each wording did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.console.doors import show, signed_in
from factory_site.console.selectors import agents as read
from factory_site.console.selectors.runs import rows_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs.models import Definition


@signed_in()
def agent_list(request: HttpRequest) -> HttpResponse:
    """Every agent that is current."""
    return show(request, "fleet/agent_list.html", {"here": "agents", "rows": read.agent_rows(), "days": read.DAYS})


@signed_in()
def agent_detail(request: HttpRequest, ref: str) -> HttpResponse:
    """One agent, a tab at a time."""
    tab = request.GET.get("tab", "definition")
    return _page(request, read.agent_find(ref), tab if tab in read.TABS else "definition")


@signed_in()
def agent_prompt(request: HttpRequest, ref: str) -> HttpResponse:
    """The wording that an agent gets now."""
    return _page(request, read.agent_find(ref), "prompt")


def _page(request: HttpRequest, definition: Definition, tab: str) -> HttpResponse:
    context: dict[str, Any] = {
        "here": "agents",
        "row": read.agent_row(definition),
        "definition": definition,
        "address": f"/agents/{definition.ref}/",
        "tab": tab,
        "tabs": read.TABS,
        "tab_template": f"fleet/agent_{tab}.html",
        "days": read.DAYS,
        **_of_tab(request, tab, definition),
    }
    return show(request, "fleet/agent_detail.html", context)


def _of_tab(request: HttpRequest, tab: str, definition: Definition) -> dict[str, Any]:
    if tab == "definition":
        return {"words": read.definition_words(definition), "former": read.former_definitions(definition)}
    if tab == "schemas":
        return {"schemas": read.schema_texts(definition)}
    if tab == "runs":
        return {"runs": rows_of(read.agent_runs(definition))}
    prompt, now = read.prompt_of(definition)
    if tab == "prompt":
        differs = prompt is not None and bool(prompt.file_hash) and prompt.file_hash != prompt.current_hash
        return {
            "prompt": prompt,
            "prompt_hash": now,
            "text": read.prompt_text(now),
            "file_differs": read.prompt_difference(now, prompt.file_hash) if differs and prompt else [],
        }
    versions = read.prompt_versions(prompt) if prompt else []
    known = {row.version.hash for row in versions}
    old, new = request.GET.get("from", ""), request.GET.get("to", "")
    compared = old in known and new in known
    return {
        "prompt": prompt,
        "versions": versions,
        "compared": read.prompt_difference(old, new) if compared else [],
        "is_compared": compared,
        "old": old,
        "new": new,
    }
