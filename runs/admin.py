"""A window on runs, questions, definitions, the outbox and people; machine rows are moved by services alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from runs.models import (
    ApiToken,
    Artifact,
    Attempt,
    Definition,
    HumanTask,
    JournalRow,
    Outbox,
    PeriodicTask,
    PlacementClass,
    PromptVersion,
    Receipt,
    Run,
    TraceRow,
    TransitionLog,
    User,
)
from runs.outbox.requeue import outbox_requeue
from runs.people import token_revoke
from runs.queue.cancel import run_cancel
from runs.queue.operating.retry import run_retry
from runs.window import WindowInline, WindowRows, act

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class AttemptInline(WindowInline):
    """The tries of a run."""

    model = Attempt
    fields = ("number", "worker_id", "phase", "outcome", "reason_code", "claimed_at", "deadline_at", "finished_at")
    ordering = ("number",)


class JournalInline(WindowInline):
    """The hash chain of a run."""

    model = JournalRow
    fields = ("seq", "kind", "edge", "from_state", "to_state", "actor", "reason_code", "detail_json", "at")
    ordering = ("seq",)


@admin.register(Run)
class RunAdmin(WindowRows):
    """Runs with their attempts and journal."""

    list_display = ("run_id", "state", "agent_ref", "subject_label", "reason_code", "attempt_number", "created_at")
    list_filter = ("state", "agent_id")
    search_fields = ("run_id__exact", "subject__exact")
    inlines = (AttemptInline, JournalInline)
    actions = ("cancel", "retry")

    @admin.action(description="Cancel: the agent is stopped")
    def cancel(self, request: HttpRequest, rows: QuerySet[Run]) -> None:
        """Cancel each run that is not at rest."""
        act(self, request, rows, lambda run, actor: run_cancel(run=run, code="operator_cancel", actor=actor))

    @admin.action(description="Retry: a failed run is queued again, within its budget")
    def retry(self, request: HttpRequest, rows: QuerySet[Run]) -> None:
        """Queue each failed run again that may still be tried."""
        act(self, request, rows, lambda run, actor: run_retry(run=run, actor=actor))


@admin.register(Attempt)
class AttemptAdmin(WindowRows):
    """Tries of runs."""

    list_display = ("__str__", "worker_id", "phase", "outcome", "reason_code", "claimed_at", "finished_at")
    list_filter = ("phase", "outcome")
    search_fields = ("run__run_id__exact", "worker_id__exact")
    list_select_related = ("run",)


@admin.register(TraceRow)
class TraceAdmin(WindowRows):
    """What agents did."""

    list_display = ("__str__", "kind", "at")
    search_fields = ("attempt__run__run_id__exact",)


@admin.register(Receipt)
class ReceiptAdmin(WindowRows):
    """What binds a result to its run."""

    list_display = ("run", "receipt_hash")
    search_fields = ("run__run_id__exact", "receipt_hash__exact")
    list_select_related = ("run",)


@admin.register(Artifact)
class ArtifactAdmin(WindowRows):
    """Stored objects by their hash."""

    list_display = ("sha256", "media_type", "size_bytes")
    search_fields = ("sha256__startswith",)


@admin.register(HumanTask)
class HumanTaskAdmin(WindowRows):
    """Questions to people and their answers."""

    list_display = ("id", "state", "kind", "subject_label", "question", "created_at", "due_at", "answered_by")
    list_filter = ("state", "kind")
    search_fields = ("id__exact", "subject__exact")


@admin.register(TransitionLog)
class TransitionAdmin(WindowRows):
    """Every edge that any flow took."""

    list_display = ("id", "flow", "subject", "from_state", "to_state", "edge", "actor", "at")
    list_filter = ("flow",)
    search_fields = ("subject__exact",)


@admin.register(Outbox)
class OutboxAdmin(WindowRows):
    """What is to be done outside, and what was seen afterwards."""

    list_display = ("id", "topic", "key", "available_at", "tries", "done_at", "dead_at", "last_error")
    list_filter = ("topic",)
    search_fields = ("key__exact", "stream__exact")
    actions = ("deliver_again",)

    @admin.action(description="Deliver again: a dead row gets new tries")
    def deliver_again(self, request: HttpRequest, rows: QuerySet[Outbox]) -> None:
        """Queue each dead row again."""
        act(self, request, rows, lambda row, actor: outbox_requeue(row_id=row.pk, actor=actor))


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(WindowRows):
    """Passes: when each is due, and what it said last."""

    list_display = ("name", "due_at", "started_at", "ended_at", "error")


@admin.register(PlacementClass)
class PlacementClassAdmin(WindowRows):
    """What runs require of a worker."""


@admin.register(Definition)
class DefinitionAdmin(WindowRows):
    """Agent definitions; the current ones are in use."""

    list_display = ("ref", "kind", "title", "adapter", "layer", "is_current", "created_at")
    list_filter = ("is_current", "kind")
    search_fields = ("ref__startswith",)


@admin.register(PromptVersion)
class PromptVersionAdmin(WindowRows):
    """Versions of prompts."""

    list_display = ("prompt", "hash", "actor", "source", "at")
    list_select_related = ("prompt",)


@admin.register(ApiToken)
class ApiTokenAdmin(WindowRows):
    """Tokens of people, without their hashes."""

    list_display = ("name", "user", "role", "prefix", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_select_related = ("user",)
    exclude = ("token_hash",)
    actions = ("revoke",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show no secret, not even its hash."""
        return [name for name in super().get_readonly_fields(request, obj) if name != "token_hash"]

    @admin.action(description="Revoke: worthless from the next request on")
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiToken]) -> None:
        """Revoke each token."""
        act(self, request, rows, lambda token, actor: token_revoke(name=token.name))  # noqa: ARG005


@admin.register(User)
class UserAdmin(WindowRows):
    """People and their roles."""

    list_display = ("username", "role", "is_active", "last_login", "date_joined")
    list_filter = ("role", "is_active")
    search_fields = ("username__startswith",)
    exclude = ("password",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show no password, not even its hash."""
        return [name for name in super().get_readonly_fields(request, obj) if name != "password"]
