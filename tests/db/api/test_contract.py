"""The published description of the API, held against the API itself by schemathesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck
from hypothesis import settings as examples
from schemathesis.config import SchemathesisConfig

from factory_site.api import api
from factory_site.wsgi import application
from runs.models.user import Role
from tests import queue_driver
from tests.browser.world import fill
from tests.db.api.conftest import program

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db

NOWHERE = "http://127.0.0.1:9"
EXAMPLES = 20  # of each operation, beside the boundary values that schemathesis derives from its schema
CONFIG = SchemathesisConfig.from_dict(
    {
        "seed": 7,
        "generation": {"deterministic": True, "max-examples": EXAMPLES},
        # What a description cannot say is still wrong: a reference that names nothing, a cursor that no list gave.
        "checks": {"positive_data_acceptance": {"expected-statuses": [200, 202, 304, 400, 403, 404, 409, 429, 503]}},
    }
)


schema = schemathesis.openapi.from_dict(api.get_openapi_schema(), config=CONFIG)
schema.app = application


@pytest.fixture
def token(settings: Any) -> Iterator[str]:
    """A token of an operator, in a product with rows of every kind and without a forge."""
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_api_url": NOWHERE, "stated_graphql_url": NOWHERE})
    fill()
    queue_driver.load_definitions()
    queue_driver.enqueue()
    # As Django's own client does: the end of a request must not close the connection whose transaction is the test's.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield program(Role.OPERATOR).secret
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schema.parametrize()
@examples(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_api_does_what_its_description_says(case: schemathesis.Case[Any], token: str) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"})
