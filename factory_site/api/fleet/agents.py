"""Routes of agents and their prompts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.errors import responses
from factory_site.api.fleet.answers import AgentDetail, AgentList, PromptAnswer
from factory_site.api.lists import conditional
from factory_site.console.selectors import agents as read

router = Router(by_alias=True)


@router.get("", response=responses({200: AgentList}, 304))
def agent_list(request: HttpRequest) -> HttpResponse:
    """Every agent that is current, by name."""
    return conditional(request, {"items": [_row(row) for row in read.agent_rows()], "nextBefore": None})


@router.get("/{ref}", response=responses({200: AgentDetail}, 304, 404))
def agent_show(request: HttpRequest, ref: str) -> HttpResponse:
    """One agent with its whole definition; `ref` is `id@version`, or `id` for the newest version."""
    definition = read.agent_find(ref)
    return conditional(
        request,
        {
            **_row(read.agent_row(definition)),
            "definition": read.definition_document(definition),
            "former": [
                {"agent": each.ref, "defHash": each.def_hash, "createdAt": each.created_at}
                for each in read.former_definitions(definition)
            ],
        },
    )


@router.get("/{ref}/prompt", response=responses({200: PromptAnswer}, 304, 404))
def prompt_show(request: HttpRequest, ref: str) -> HttpResponse:
    """The wording that the agent gets now, and every time that a wording was made live, the newest first."""
    definition = read.agent_find(ref)
    prompt, content_hash = read.prompt_of(definition)
    return conditional(
        request,
        {
            "agent": definition.ref,
            "name": definition.prompt_name or None,
            "binding": definition.prompt_binding,
            "hash": content_hash or None,
            "fileHash": prompt.file_hash or None if prompt else None,
            "text": read.prompt_text(content_hash),
            "versions": [
                {
                    "hash": row.version.hash,
                    "source": row.version.source,
                    "by": row.version.actor,
                    "note": row.version.note,
                    "from": row.version.at,
                    "until": row.until,
                    "attempts": row.attempts,
                    "completed": row.completed,
                }
                for row in (read.prompt_versions(prompt) if prompt else [])
            ],
        },
    )


def _row(row: read.AgentRow) -> dict[str, Any]:
    definition, figures = row.definition, row.figures
    return {
        "agent": definition.ref,
        "id": definition.agent_id,
        "version": definition.version,
        "title": definition.title,
        "summary": definition.summary,
        "mutating": definition.mutating,
        "adapter": definition.adapter,
        "defHash": definition.def_hash,
        "isCurrent": definition.is_current,
        "prompt": {
            "name": definition.prompt_name or None,
            "hash": row.prompt_hash or None,
            "binding": definition.prompt_binding,
            "liveSince": row.live_since,
        },
        "days": read.DAYS,
        "runs": figures.runs,
        "completed": figures.completed,
        "medianSeconds": figures.median_seconds,
        "medianCostUsd": None if figures.median_cost is None else figures.median_cost / 1_000_000,
        "lastRunEndedAt": figures.last_at,
    }
