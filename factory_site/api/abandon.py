"""GET /hooks/abandon: an agent asks, before each push, whether its work is still wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import JsonResponse
from django.views.decorators.http import require_GET

from convergence.selectors.abandon import abandon_state
from factory_site.api.errors import factory_error_answer
from runs.contract.errors import FactoryError

if TYPE_CHECKING:
    from django.http import HttpRequest


@require_GET
def abandon(request: HttpRequest) -> JsonResponse:
    """200 with the state, 400 without a token, 404 for an unknown one; the token is the only key."""
    try:
        state = abandon_state(request.GET.get("token", "")[:200])
    except FactoryError as error:
        return factory_error_answer(error)
    return JsonResponse({"prKey": state.pr_key, "state": state.state, "abandoned": state.abandoned})
