"""A filled product, and programs that call its API with tokens of each role."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from runs.models import ApiToken, User
from runs.models.user import Role
from runs.people import token_issue
from tests.browser.world import World, fill
from tests.factories import UserFactory


@pytest.fixture
def world() -> World:
    return fill()


@dataclass(frozen=True)
class Program:
    """A caller that sends one token, and JSON."""

    secret: str
    token: ApiToken

    def get(self, path: str, **headers: str) -> Any:
        return Client().get(path, headers={**self.header, **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        found = {**self.header, **headers}
        return Client().post(path, data=content, content_type="application/json", headers=found)

    @property
    def header(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}


def program(role: Role, user: User | None = None, **columns: Any) -> Program:
    person = user or UserFactory.create(role=role)
    token, secret = token_issue(name=f"{role}-{person.pk}", user=person, role=role, created_by="test")
    ApiToken.objects.filter(pk=token.pk).update(**columns)
    return Program(secret, token)


@pytest.fixture
def viewer(db: None) -> Program:  # noqa: ARG001 - it opens the database
    return program(Role.VIEWER)


@pytest.fixture
def operator(db: None) -> Program:  # noqa: ARG001 - it opens the database
    return program(Role.OPERATOR)


def error(answer: Any, status: int) -> dict[str, Any]:
    """The error of an answer, whose whole shape is checked."""
    assert answer.status_code == status, answer.content
    assert answer.headers["Content-Type"].startswith("application/json")
    document = answer.json()
    assert set(document) == {"error"}
    found: dict[str, Any] = document["error"]
    assert set(found) - {"details"} == {"code", "message", "retryable"}
    assert found["message"]
    return found
