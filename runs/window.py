"""What every page of the admin site is: a window for the role admin, in which nothing is added, changed or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe

from runs.contract.errors import FactoryError
from runs.models import Role, TransitionLog, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.http import HttpRequest

    from runs.models.flow_row import FlowRow

    Rows = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
else:
    Rows = admin.ModelAdmin
    Inline = admin.TabularInline

MOST_AT_ONCE = 50  # rows of one action
MOST_SHOWN = 200  # transitions of one row


def is_admin(request: HttpRequest) -> bool:
    """Whether an active person with the role admin asks; Django's own permissions stay unused."""
    person = request.user
    return isinstance(person, User) and person.is_active and person.may(Role.ADMIN)


class Window:
    """No add, change or delete; rows are written by services alone."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Only the role counts."""
        return is_admin(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Only the role counts."""
        del obj
        return is_admin(request)

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody adds rows here."""
        del request, obj
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody changes rows here."""
        del request, obj
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody removes rows here."""
        del request, obj
        return False


class WindowRows(Window, Rows):
    """A list of machine rows: newest first, never counted in full, 50 on a page."""

    list_per_page = 50
    show_full_result_count = False
    ordering: ClassVar[Any] = ("-pk",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show every column as it is."""
        del request, obj
        return [field.name for field in self.opts.fields]


class WindowInline(Window, Inline):
    """Rows that belong to the one on screen, read-only."""

    extra = 0
    show_change_link = False


def act(model_admin: Rows, request: HttpRequest, rows: Iterable[Any], verb: Callable[[Any, str], object]) -> None:
    """Call a service for each row by itself, and say for each that was refused why; the rest went through."""
    done = 0
    for row in list(rows)[:MOST_AT_ONCE]:
        try:
            verb(row, f"operator:{request.user.get_username()}")
        except FactoryError as error:
            model_admin.message_user(request, f"{row}: {error.message}", messages.WARNING)
        else:
            done += 1
    if done:
        model_admin.message_user(request, f"Done for {done}.", messages.SUCCESS)


class FlowWindow(WindowRows):
    """Rows of one flow type, with the edges that each took."""

    list_display = ("subject", "generation", "state", "entered_at", "due_at", "last_look_error")
    list_filter = ("state",)
    search_fields = ("subject__exact",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show the columns, and the transitions below them."""
        return [*super().get_readonly_fields(request, obj), "transitions"]

    @admin.display(description="Transitions, the newest first")
    def transitions(self, row: FlowRow) -> str:
        """The newest edges of the row."""
        found = TransitionLog.objects.filter(flow=row.machine.name, flow_row=row.pk).order_by("-id")[:MOST_SHOWN]
        return format_html_join(
            mark_safe("<br>"),
            "{} · {} → {} by {} · {} {}",
            (
                (
                    f"{each.at:%Y-%m-%d %H:%M:%S}",
                    each.from_state or "(new)",
                    each.to_state,
                    each.edge,
                    each.actor,
                    each.note,
                )
                for each in found
            ),
        )
