"""Sign-in and sign-out, with a pause after too many wrong passwords."""

from __future__ import annotations

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.contrib.auth import authenticate, login, logout
from django.db import transaction
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from factory_site.console.doors import SeeOther
from factory_site.console.wording import words
from factory_site.models import SignInFailure
from runs.clock import now as clock_now
from runs.models.user import User

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

TRIES = 5
WINDOW = timedelta(minutes=15)  # in which the tries are counted
PAUSE = timedelta(minutes=15)
LONGEST_NAME = 150  # characters of a user name


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page; a right password leads to where the person wanted to go."""
    target = _target(request)
    if request.method != "POST":
        return SeeOther(target) if request.user.is_authenticated else _page(request, target)
    name = request.POST.get("username", "").strip()
    password = request.POST.get("password", "")
    if not name or not password:
        return _page(request, target, "Type your name and your password.", HTTPStatus.BAD_REQUEST)
    address = request.META.get("REMOTE_ADDR", "")
    paused_until = pause_of(name, address)
    if paused_until is not None:
        return _paused(request, target, paused_until)
    user = authenticate(request, username=name, password=password)
    if user is None:
        paused_until = failure_record(name, address)
        if paused_until is not None:
            return _paused(request, target, paused_until)
        return _page(request, target, "The name or the password is wrong.", HTTPStatus.BAD_REQUEST)
    SignInFailure.objects.filter(name=_key(name), address=address).delete()
    login(request, user)
    return SeeOther(target)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session and show the sign-in page."""
    logout(request)
    return SeeOther("/login/?out=1")


def pause_of(name: str, address: str) -> datetime | None:
    """Until when this name from this address is not tried; None when it may be."""
    row = SignInFailure.objects.filter(name=_key(name), address=address).first()
    return row.paused_until if row and row.paused_until and row.paused_until > clock_now() else None


def failure_record(name: str, address: str) -> datetime | None:
    """Count one wrong password; returns the end of the pause that it began, if it did.

    Locks the row of (name, address) for the length of one transaction.
    """
    now = clock_now()
    with transaction.atomic():
        SignInFailure.objects.get_or_create(name=_key(name), address=address, defaults={"updated_at": now})
        row = SignInFailure.objects.select_for_update().get(name=_key(name), address=address)
        recent = [at for at in row.failed_at if datetime.fromisoformat(at) > now - WINDOW]
        row.failed_at = [*recent, now.isoformat()]
        row.paused_until = now + PAUSE if len(row.failed_at) >= TRIES else None
        if row.paused_until is not None:
            row.failed_at = []
        row.updated_at = now
        row.save()
    return row.paused_until


def _key(name: str) -> str:
    return name.lower()[:LONGEST_NAME]


def _target(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    safe = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith("/")
    return wanted if safe else "/"


def _paused(request: HttpRequest, target: str, until: datetime) -> HttpResponse:
    left = words.without_seconds(until - clock_now())
    sentence = f"Too many wrong passwords for this name from your address. Try again in {left}."
    response = _page(request, target, sentence, HTTPStatus.TOO_MANY_REQUESTS)
    response.headers["Retry-After"] = str(max(1, int((until - clock_now()).total_seconds())))
    return response


def _page(request: HttpRequest, target: str, error: str = "", status: int = HTTPStatus.OK) -> HttpResponse:
    context = {
        "next": target,
        "error": error,
        "name": request.POST.get("username", ""),
        "signed_out": "out" in request.GET,
        "is_first": not User.objects.filter(last_login__isnull=False).exists(),
    }
    return render(request, "console/sign_in.html", context, status=status)
