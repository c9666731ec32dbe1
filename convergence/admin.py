"""A window on pull requests and their convergence; rows are moved by services alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from convergence.models import (
    ConvergenceFlow,
    Escalation,
    PullRequest,
    PullRequestGeneration,
    Repository,
    ReviewSeen,
    Round,
    RoundTurn,
)
from convergence.services.cancel import pull_cancel
from convergence.services.look_now import pull_look
from runs.window import FlowWindow, WindowInline, WindowRows, act

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class GenerationInline(WindowInline):
    """Submissions, without the tokens with which agents ask for them."""

    model = PullRequestGeneration
    fields = ("number", "max_rounds", "auto_merge", "submitted_by", "submitted_at", "outcome")
    ordering = ("number",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show no token."""
        del request, obj
        return self.fields


class RoundInline(WindowInline):
    """Rounds of all submissions."""

    model = Round
    fields = ("generation", "number", "status", "summary", "started_at", "ended_at")
    ordering = ("generation", "number")


class EscalationInline(WindowInline):
    """Why people were asked."""

    model = Escalation
    fields = ("flow", "generation", "round", "reason", "kind", "state", "asked_at", "task")
    ordering = ("pk",)


@admin.register(PullRequest)
class PullRequestAdmin(WindowRows):
    """Pull requests with submissions, rounds and questions."""

    list_display = ("__str__", "state", "title", "generation", "author", "updated_at")
    list_filter = ("state",)
    list_select_related = ("repository",)
    search_fields = ("root__exact", "head_sha__startswith", "number__exact")
    inlines = (GenerationInline, RoundInline, EscalationInline)
    actions = ("cancel", "look_now")

    @admin.action(description="Cancel: its agent is stopped, nothing is merged")
    def cancel(self, request: HttpRequest, rows: QuerySet[PullRequest]) -> None:
        """Abandon each pull request through the flow that drives it."""
        act(self, request, rows, lambda pull, actor: pull_cancel(pull=pull, actor=actor))

    @admin.action(description="Look now")
    def look_now(self, request: HttpRequest, rows: QuerySet[PullRequest]) -> None:
        """Have each read again at once, at most once in ten seconds."""
        act(self, request, rows, lambda pull, actor: pull_look(pull=pull))  # noqa: ARG005 - a look is nobody's decision


@admin.register(ConvergenceFlow)
class ConvergenceFlowAdmin(FlowWindow):
    """Submissions on their way to convergence."""


@admin.register(RoundTurn)
class RoundTurnAdmin(WindowRows):
    """Starts of the review agent."""

    list_display = ("round", "turn", "outcome", "status", "run_id", "started_at", "ended_at")
    list_select_related = ("round",)
    search_fields = ("run_id__exact",)


@admin.register(ReviewSeen)
class ReviewSeenAdmin(WindowRows):
    """Reviews as they were read."""

    list_display = ("reviewer", "state", "submitted_at", "counts_for", "void_reason")
    search_fields = ("forge_id__exact",)


@admin.register(Repository)
class RepositoryAdmin(WindowRows):
    """Repositories by their numeric id on the forge."""

    list_display = ("__str__", "forge_id")
    search_fields = ("owner__exact", "name__exact", "forge_id__exact")
