"""The admin site: role admin only, a window on the rows."""

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory
from django.urls import reverse

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import PullRequest
from merging.flow import MERGE_MACHINE
from runs.clock import now
from runs.flow import RUN_MACHINE
from runs.models import ApiToken, JournalRow, Outbox, Run, TransitionLog
from runs.models.user import Role
from runs.outbox.write import outbox_add
from runs.window import Window
from tests import queue_driver
from tests.db.api.conftest import program
from tests.factories import UserFactory
from tests.site_agents import load_reader, started

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("world")]

ACTIONS = {"cancel", "deliver_again", "look_now", "retry", "revoke"}


def signed_in(role, **columns):
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory.create(role=role, **columns))
    return client


def act(client, model, action, *rows):
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    client.get(path)
    chosen = {"action": action, "_selected_action": [row.pk for row in rows], "index": 0}
    token = client.cookies["csrftoken"].value
    return client.post(path, {**chosen, "csrfmiddlewaretoken": token}, follow=True)


def test_the_site_is_for_the_role_admin_whatever_django_flags_say():
    for role in (Role.VIEWER, Role.OPERATOR):
        client = signed_in(role, is_staff=True, is_superuser=True)
        for path in ("/admin/", "/admin/runs/run/", "/admin/login/"):
            answer = client.get(path, follow=True)
            assert (answer.status_code, "not permitted" in answer.content.decode()) == (403, True), path
    assert signed_in(Role.ADMIN).get("/admin/").status_code == 200


def test_a_stranger_signs_in_where_wrong_passwords_are_counted():
    answer = Client().get("/admin/runs/run/", follow=True)
    assert answer.redirect_chain[-1] == ("/login/?next=/admin/runs/run/", 303)
    refused = Client().post("/admin/login/", {"username": "ops-1", "password": "correct horse battery"})
    assert (refused.status_code, refused.headers["Location"]) == (303, "/login/?next=/admin/")
    assert not refused.wsgi_request.user.is_authenticated


def test_nothing_is_added_changed_or_removed_and_only_an_operators_edges_are_offered():
    """CO-H32"""
    request = RequestFactory().get("/admin/")
    request.user = UserFactory.create(role=Role.ADMIN, is_superuser=True)
    assert len(admin.site._registry) > 15
    for model, shown in admin.site._registry.items():
        if model.__module__.startswith("django."):
            pytest.fail(f"{model} is registered")
        assert isinstance(shown, Window), model
        may = (shown.has_add_permission(request), shown.has_change_permission(request))
        assert (*may, shown.has_delete_permission(request)) == (False, False, False), model
        assert set(shown.get_actions(request)) <= ACTIONS, model
    for machine, edge in (
        (RUN_MACHINE, "cancel"),
        (RUN_MACHINE, "retry"),
        (CONVERGENCE_MACHINE, "cancelled"),
        (MERGE_MACHINE, "cancelled"),
    ):
        assert "operator" in machine.edge(edge).actors


def test_every_list_and_every_row_can_be_looked_at():
    queue_driver.load_definitions()
    run = queue_driver.enqueue()
    queue_driver.publish(attempt := queue_driver.claim(), queue_driver.completed_body(attempt))
    client = signed_in(Role.ADMIN)
    for model in admin.site._registry:
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        for query in ("", "?q=abc", "?q=1"):
            assert client.get(reverse(f"{base}_changelist") + query).status_code == 200, (model, query)
        row = model._default_manager.first()
        if row is not None:
            page = client.get(reverse(f"{base}_change", args=[row.pk]))
            assert page.status_code == 200, model
            assert 'name="_save"' not in page.content.decode(), model
    page = client.get(reverse("admin:runs_run_change", args=[run.pk])).content.decode()
    assert all(edge in page for edge in JournalRow.objects.filter(run=run).values_list("edge", flat=True))


def test_no_secret_is_on_any_page(world):
    held = program(Role.OPERATOR)
    client = signed_in(Role.ADMIN)
    secrets = [ApiToken.objects.get(pk=held.token.pk).token_hash, world.operator.password]
    secrets += PullRequest.objects.values_list("generations__abandon_token", flat=True)
    for path in (
        reverse("admin:runs_apitoken_change", args=[held.token.pk]),
        reverse("admin:runs_user_change", args=[world.operator.pk]),
        reverse("admin:convergence_pullrequest_change", args=[world.escalated.pk]),
    ):
        page = client.get(path).content.decode()
        assert not [secret for secret in secrets if secret in page], path


def test_cancel_goes_through_the_services_with_the_persons_name(world):
    queue_driver.load_definitions()
    run, over = queue_driver.enqueue(), queue_driver.enqueue(subject="pull-request:8412077:13")
    client = signed_in(Role.ADMIN, username="root")
    act(client, Run, "cancel", over)
    answer = act(client, Run, "cancel", run, over)
    assert "cannot be cancelled" in answer.content.decode()
    assert set(Run.objects.values_list("state", flat=True)) == {"cancelled"}
    assert JournalRow.objects.filter(run=run).latest("seq").actor == "operator:root"

    act(client, PullRequest, "cancel", world.escalated)
    world.escalated.refresh_from_db()
    assert world.escalated.state == "abandoned"
    assert TransitionLog.objects.filter(subject=world.escalated.subject).latest("id").actor == "operator:root"


def test_a_revoked_token_is_worth_nothing():
    held = program(Role.OPERATOR)
    act(signed_in(Role.ADMIN), ApiToken, "revoke", held.token)
    assert held.get("/api/v1/runs").status_code == 401


def test_retry_and_deliver_again_go_through_the_services(tmp_path):
    load_reader(tmp_path)
    run, spent = started(), started()
    for each, code in ((run, "adapter_error"), (spent, "policy_denied")):
        Run.objects.filter(pk=each.pk).update(max_environment_retries=0)
        queue_driver.publish(attempt := queue_driver.claim(), queue_driver.failed_body(attempt, code))
    client = signed_in(Role.ADMIN, username="root")
    assert "force the retry" in act(client, Run, "retry", run, spent).content.decode()
    states = dict(Run.objects.values_list("pk", "state"))
    assert states == {run.pk: "queued", spent.pk: "failed"}
    assert JournalRow.objects.filter(run=run).latest("seq").actor == "operator:root"

    row = outbox_add(topic="flow.effect", key="k", stream="s", payload={})
    Outbox.objects.filter(pk=row.pk).update(dead_at=now())
    act(client, Outbox, "deliver_again", row)
    assert Outbox.objects.get(pk=row.pk).requeued_by == "operator:root"
