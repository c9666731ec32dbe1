"""Nothing that opens a door stands on a page."""

import logging
import secrets

import pytest
from pydantic import SecretStr

from runs.models.user import Role
from runs.people import token_issue
from tests.browser.fleet import fill_fleet
from tests.browser.world import person
from tests.db.console.conftest import Visitor
from tests.db.console.fleet.test_pages import pages as pages_of_the_machine
from tests.db.console.test_pages import pages
from workers.allowances import Allowances
from workers.services.credentials import credential_issue

pytestmark = pytest.mark.django_db


def test_no_page_no_answer_and_no_log_holds_a_secret(world, settings, caplog):
    """CO-H24: of the forge, of webhooks, of people and of nodes; the role admin sees none either."""
    caplog.set_level(logging.DEBUG)
    forge, hook = secrets.token_hex(20), secrets.token_hex(20)
    settings.FACTORY = settings.FACTORY.model_copy(
        update={"github_token": SecretStr(forge), "github_webhook_secret": SecretStr(hook)}
    )
    fleet = fill_fleet(world)
    admin = person("chief", Role.ADMIN)
    _, token = token_issue(name="mine", user=admin, role=Role.ADMIN, created_by="operator:chief")
    node = credential_issue(node="lab", allowed=Allowances(), life=None, actor="operator:chief").secret
    hidden = [forge, hook, token, node, admin.password, settings.SECRET_KEY]
    visitor = Visitor(admin)
    wrong = visitor.post("/pull-requests/", reference=f"https://{forge}@github.com/acme/web/pull/1")
    answers = [visitor.get(path) for path in (*pages(world), *pages_of_the_machine(fleet), "/pulse/", "/api/v1/status")]
    assert wrong.status_code == 400
    for answer in answers:
        assert [secret for secret in hidden if secret in answer.content.decode()] == [], answer.wsgi_request.path
    assert [secret for secret in hidden if secret in caplog.text] == []
