"""A window on merges; rows are moved by services alone, and a merge is cancelled with its pull request."""

from __future__ import annotations

from django.contrib import admin

from merging.models import MergeAttempt, MergeFlow
from runs.window import FlowWindow, WindowRows


@admin.register(MergeFlow)
class MergeFlowAdmin(FlowWindow):
    """Converged submissions on their way to the base branch."""


@admin.register(MergeAttempt)
class MergeAttemptAdmin(WindowRows):
    """Merge calls and what became of each."""

    list_display = ("pull", "generation", "outcome", "reason", "method", "expected_head", "landed_sha", "at")
    list_filter = ("outcome",)
    list_select_related = ("pull__repository",)
    search_fields = ("expected_head__startswith", "landed_sha__startswith")
