"""One Chromium for the ring, a fresh page for each test; whatever goes wrong in the browser fails the test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from tests import rings
from tests.browser.screens import FLAGS, sign_in
from tests.browser.world import World, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright keeps an event loop in the thread that also reads rows


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=rings.chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def world(transactional_db: None) -> World:  # noqa: ARG001 - rows that the server's threads see
    return fill()


@pytest.fixture
def visit(chromium: Browser, live_server: LiveServer, world: World) -> Iterator[Callable[..., Page]]:
    """Open a signed-in page: `visit("/tasks/", width=390, scripts=False)`."""
    faults: list[str] = []
    contexts = []

    def opened(
        path: str = "/", *, width: int = 1440, scripts: bool = True, user: str = world.operator.username
    ) -> Page:
        size = {"width": width, "height": 900}
        context = chromium.new_context(
            viewport=size,  # type: ignore[arg-type]
            base_url=live_server.url,
            java_script_enabled=scripts,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda told: faults.append(told.text) if told.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        sign_in(page, live_server.url, user, "correct horse battery")
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    expected = ("status of 304", "status of 400", "status of 401", "status of 409", "status of 503")
    assert [fault for fault in faults if not any(each in fault for each in expected)] == []
