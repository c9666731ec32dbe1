"""A filled console and the people who look at it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from tests.browser.world import World, fill


@pytest.fixture
def world() -> World:
    return fill()


class Visitor:
    """A browser without scripts: it follows no redirect and checks CSRF as the server does."""

    def __init__(self, user: Any) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.client.force_login(user)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=headers)

    def fragment(self, path: str, target: str, tag: str = "") -> Any:
        headers = {"HX-Request": "true", "HX-Target": target}
        return self.client.get(path, headers={**headers, "If-None-Match": tag} if tag else headers)

    def post(self, path: str, *, token: bool = True, **fields: object) -> Any:
        fields.setdefault("submission", str(uuid.uuid4()))
        if token:
            self.client.get("/")
            fields["csrfmiddlewaretoken"] = self.client.cookies["csrftoken"].value
        return self.client.post(path, fields)


@pytest.fixture
def operator(world: World) -> Visitor:
    return Visitor(world.operator)


@pytest.fixture
def viewer(world: World) -> Visitor:
    return Visitor(world.viewer)
