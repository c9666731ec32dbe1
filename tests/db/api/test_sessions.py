"""How long a sign-in lasts, what its cookie is like, and how it ends."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from runs.clock import now as clock_now
from runs.models.user import Role
from tests.db.api.conftest import error
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

HALF_A_DAY = timedelta(hours=12)


@pytest.fixture
def client():
    person = UserFactory.create(role=Role.OPERATOR, username="dana")
    person.set_password("correct horse battery")
    person.save()
    signing_in = Client()
    signing_in.post("/login/", {"username": "dana", "password": "correct horse battery"})
    return signing_in


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(client):
    cookie = client.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert cookie["max-age"] == HALF_A_DAY.total_seconds()


def test_a_sign_in_lasts_twelve_hours_after_its_last_use(client):
    row = Session.objects.get()
    Session.objects.update(expire_date=clock_now() + timedelta(minutes=1))
    session = client.session
    session["slid"] = int((clock_now() - timedelta(hours=1)).timestamp())
    session.save()
    Session.objects.update(expire_date=clock_now() + timedelta(minutes=1))
    client.get("/pulse/")
    assert Session.objects.get().expire_date < clock_now() + timedelta(hours=1), "a poll renews nothing"
    client.get("/tasks/")
    left = Session.objects.get(pk=row.pk).expire_date - clock_now()
    assert HALF_A_DAY - timedelta(minutes=5) < left <= HALF_A_DAY


def test_an_expired_sign_in_opens_neither_the_api_nor_the_admin_site(client):
    assert client.get("/api/v1/runs").status_code == 200
    Session.objects.update(expire_date=clock_now() - timedelta(seconds=1))
    assert error(client.get("/api/v1/runs"), 401)["code"] == "unauthenticated"
    assert client.get("/admin/").status_code == 302


def test_signing_out_takes_a_post_and_ends_the_session_on_the_server(client):
    key = client.cookies["sessionid"].value
    assert client.get("/logout/").status_code == 405
    assert Session.objects.filter(pk=key).exists()
    client.post("/logout/")
    assert not Session.objects.filter(pk=key).exists()
    client.cookies["sessionid"] = key
    assert error(client.get("/api/v1/runs"), 401)["code"] == "unauthenticated"


def test_a_changed_password_ends_the_sessions_of_before(client):
    from runs.models import User

    person = User.objects.get(username="dana")
    person.set_password("another horse battery")
    person.save()
    assert error(client.get("/api/v1/runs"), 401)["code"] == "unauthenticated"
