"""Paths below the protocol's own that no endpoint serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.csrf import csrf_exempt

from runs.contract.errors import FactoryError, NotFound
from workers.wire.answers import error_answer
from workers.wire.endpoint import authenticated

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase


@csrf_exempt
def unknown(request: HttpRequest) -> HttpResponseBase:
    """Answer 404 to whoever proves a token, else what the token lacks: a stranger learns nothing about the paths."""
    try:
        authenticated(request)
        raise NotFound("not_found", f"there is no {request.method} {request.path}")
    except FactoryError as error:
        return error_answer(error)
