import pytest
from django.db import OperationalError, connection

from factory_site import __version__
from runs.models.user import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_health_is_open_and_names_the_version(client):
    answer = client.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": __version__, "database": "ok"}


def test_health_says_503_when_the_database_does_not_answer(client):
    def refuse(*_):
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(refuse):
        answer = client.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "version": __version__, "database": "unavailable"}


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
def test_the_description_of_the_api_needs_a_session(client, path):
    answer = client.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"
    client.force_login(UserFactory.create(role=Role.VIEWER))
    assert client.get(path).status_code == 200


def test_health_says_503_when_the_database_lost_its_tables(client):
    """A file of SQLite that was deleted while it was used is an empty database for the next connection."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO away")  # undone with the test's transaction
    assert client.get("/health").status_code == 503
