"""Each form acts once: the UUID printed in it is claimed before the act, and answers every later send."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib import messages

from factory_site.console.doors import SeeOther, person
from factory_site.models import SignInFailure, Submission
from runs.clock import now as clock_now
from runs.contract.errors import Invalid, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

KEPT = timedelta(hours=24)
SWEEP_SECONDS = 3600.0
GIVEN_UP = timedelta(minutes=2)  # longer than any request lives: a first send without an answer by then has died


@dataclass(frozen=True, slots=True)
class Done:
    """What an act led to: the page that shows it, and one sentence."""

    location: str
    sentence: str


def new_submission() -> str:
    """The value of a form's hidden field `submission`."""
    return str(uuid.uuid4())


def submit_once(request: HttpRequest, act: Callable[[], Done]) -> HttpResponse:
    """Run `act` for the first send of this form and answer 303; a repeat answers the same without acting.

    A refusal frees the UUID, since nothing happened. Raises what `act` raises; ``Invalid`` without a UUID; ``Refused``
    in_hand while the first send is still being worked on.
    """
    row = _claim(request)
    if row.location:
        return _answer(request, Done(row.location, row.message))
    try:
        done = act()
    except BaseException:
        Submission.objects.filter(pk=row.pk, location="").delete()
        raise
    Submission.objects.filter(pk=row.pk).update(location=done.location, message=done.sentence[:500])
    return _answer(request, done)


def _claim(request: HttpRequest) -> Submission:
    try:
        key = uuid.UUID(request.POST.get("submission", ""))
    except ValueError:
        raise Invalid("invalid_field", "This form is incomplete. Load the page again and send it once more.") from None
    now = clock_now()
    row, is_first = Submission.objects.get_or_create(
        key=key, defaults={"user": person(request), "path": request.path, "created_at": now}
    )
    if row.user_id != person(request).pk or row.path != request.path:
        raise Invalid("invalid_field", "This form belongs to another page. Load the page again.")
    if is_first or row.location:
        return row
    taken_over = Submission.objects.filter(
        pk=key, location="", created_at=row.created_at, created_at__lt=now - GIVEN_UP
    )
    if taken_over.update(created_at=now):
        return row
    raise Refused("in_hand", "The first send of this form is still being worked on. It acts once.")


def _answer(request: HttpRequest, done: Done) -> HttpResponse:
    messages.success(request, done.sentence)
    return SeeOther(done.location)


def console_sweep() -> None:
    """Delete what the console remembers only for a day: sent forms and wrong passwords."""
    before = clock_now() - KEPT
    Submission.objects.filter(created_at__lt=before).delete()
    SignInFailure.objects.filter(updated_at__lt=before).delete()
