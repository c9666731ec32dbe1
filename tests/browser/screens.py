"""Pictures of every page in both themes and two widths; fails on overflow, errors in the browser, and axe findings.

`python -m tests.browser.screens --output DIR` serves a filled and an empty console of its own; with `--url URL` it
visits the console that runs there, as `--user` with `--password`.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

from playwright.sync_api import sync_playwright

from tests import rings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = {1440: 900, 390: 844}
THEMES = ("light", "dark")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPEN_PANELS = "[...document.querySelectorAll('details.panel')].map(panel => panel.open = true).length"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Quiet(WSGIRequestHandler):
    """No line for each request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        del format, args


def serve(*, filled: bool) -> str:
    """Serve the product from this process on a throw-away database; return its address."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application

    from runs.models.user import Role
    from tests.browser.fleet import fill_fleet
    from tests.browser.world import fill, person

    call_command("migrate", verbosity=0)
    if filled:
        fill_fleet(fill())
    else:
        person("ops-1", Role.OPERATOR)
    server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Camera:
    """Takes the pictures and keeps what was wrong."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.faults: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: self.heard(message.type, message.text, page.url))
        page.on("pageerror", lambda error: self.heard("error", str(error), page.url))

    def heard(self, kind: str, text: str, url: str) -> None:
        if kind in {"error", "warning"} and "status of 404" not in text:
            self.faults.append(f"{url}: {kind} in the browser: {text}")

    def shoot(self, page: Page, name: str) -> None:
        over = page.evaluate(OVERFLOW)
        if over > 0:
            self.faults.append(f"{name}: overflows sideways by {over} px")
        size = page.viewport_size or {"width": 1440, "height": 900}
        tall = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size(
            {"width": size["width"], "height": max(tall, size["height"])}
        )  # bars then stand at its ends
        self.faults += [f"{name}: {finding}" for finding in axe_findings(page)]
        page.screenshot(path=self.output / f"{name}.png")
        page.set_viewport_size(size)


def axe_findings(page: Page) -> list[str]:
    """What axe-core has to say about the page as it stands: rule, element, how to mend it."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("rules => axe.run({runOnly: rules, resultTypes: ['violations']})", RULES)
    return [
        f"axe {rule['id']} at {' '.join(node['target'])}: {' '.join(node['failureSummary'].split())}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def sign_in(page: Page, url: str, user: str, password: str) -> None:
    page.goto(f"{url}/login/")
    page.fill("#username", user)
    page.fill("#password", password)
    page.click("button.primary")
    page.wait_for_url(f"{url}/")


def addresses(page: Page, url: str) -> dict[str, str]:
    """Pages to visit: the fixed ones, and one of each kind that the lists lead to."""
    found = {
        "overview": "/",
        "pulls": "/pull-requests/",
        "pulls-done": "/pull-requests/?tab=done",
        "tasks": "/tasks/",
        "tasks-automatic": "/tasks/?tab=automatic",
    }
    for kind, listing, link in (
        ("pull", "/pull-requests/", "a.row-link"),
        ("pull-you", "/pull-requests/?tab=you", "a.row-link"),
        ("pull-waiting", "/pull-requests/?tab=waiting", "a.row-link"),
        ("pull-done", "/pull-requests/?tab=done", "a.row-link"),
        ("pull-merging", "/pull-requests/?state=waiting_merge", "a.row-link"),
        ("pull-resting", "/pull-requests/?tab=done&state=converged", "a.row-link"),
        ("limits-raise", "/pauses/", "a.button[href*=raise]"),
        ("pull-review", "/pull-requests/?state=waiting_review", "a.row-link"),
        ("task", "/tasks/", "a.row-link"),
    ):
        page.goto(url + listing)
        first = page.query_selector(link)
        if first is not None:
            found[kind] = str(first.get_attribute("href"))
    for kind, of, tab in (
        ("pull-log", "pull", "audit"),
        ("pull-runs", "pull", "runs"),
        ("pull-findings", "pull-waiting", "findings"),
        ("pull-gate", "pull-waiting", "gate"),
        ("pull-escalations", "pull-waiting", "escalations"),
        ("pull-merge", "pull-done", "merge"),
    ):
        if of in found:
            found[kind] = f"{found[of]}?tab={tab}"
    return {**found, **fleet_addresses(page, url), "missing": "/nowhere/"}


def fleet_addresses(page: Page, url: str) -> dict[str, str]:
    """Pages of runs, workers, agents and the doctor, each tab once."""
    found = {
        "runs": "/runs/", "runs-failed": "/runs/?tab=failed", "runs-all": "/runs/?tab=all", "workers": "/workers/",
        "workers-gone": "/workers/?tab=gone", "agents": "/agents/", "doctor": "/doctor/", "limits": "/pauses/",
    }  # fmt: skip
    for kind, listing in (
        ("run-live", "/runs/?state=running"),
        ("run-queued", "/runs/?state=queued"),
        ("run-failed", "/runs/?tab=failed&state=failed"),
        ("run-refused", "/runs/?tab=failed&state=refused"),
        ("run-done", "/runs/?tab=all&state=completed"),
        ("worker", "/workers/"),
        ("agent", "/agents/"),
    ):
        page.goto(url + listing)
        first = page.query_selector("a.row-link")
        if first is not None:
            found[kind] = str(first.get_attribute("href"))
    for of, tab in (
        ("run-done", "result"), ("run-done", "spec"), ("run-done", "journal"), ("run-done", "receipt"),
        ("run-queued", "placement"), ("agent", "versions"), ("agent", "schemas"), ("agent", "runs"),
    ):  # fmt: skip
        if of in found:
            found[f"{of}-{tab}"] = f"{found[of]}?tab={tab}"
    if "run-live" in found:
        page.goto(url + found["run-live"])
        busy = page.query_selector("a[href^='/workers/lab']")
        if busy is not None:
            found["worker-busy"] = str(busy.get_attribute("href"))
    if "agent" in found:
        found["agent-prompt"] = f"{found['agent']}prompt/"
    return found


def tour(browser: Browser, camera: Camera, url: str, *, user: str, password: str, prefix: str, only: str) -> int:
    taken = 0
    for theme in THEMES:
        for width, height in WIDTHS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
            page = context.new_page()
            camera.watch(page)
            page.goto(f"{url}/login/")
            camera.shoot(page, f"{prefix}login-{theme}-{width}")
            sign_in(page, url, user, password)
            for name, path in addresses(page, url).items():
                if not name.startswith(only):
                    continue
                page.goto(url + path)
                camera.shoot(page, f"{prefix}{name}-{theme}-{width}")
                taken += 1
                if page.evaluate(OPEN_PANELS):
                    camera.shoot(page, f"{prefix}{name}-forms-{theme}-{width}")
                    taken += 1
            context.close()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--url", help="a running console; without it, one is served here")
    parser.add_argument("--user", default="ops-1")
    parser.add_argument("--password", default="correct horse battery")
    parser.add_argument("--empty", action="store_true", help="a fresh install instead of a filled one")
    parser.add_argument("--only", default="", help="only pages whose name begins so")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    url = options.url or serve(filled=not options.empty)
    camera = Camera(options.output)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright keeps an event loop in this thread
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=rings.chromium(), args=FLAGS)
        prefix = "fresh-" if options.empty else ""
        taken = tour(
            browser, camera, url, user=options.user, password=options.password, prefix=prefix, only=options.only
        )
        browser.close()
    sys.stdout.write(f"{taken} pictures in {options.output}\n")
    for fault in dict.fromkeys(camera.faults):
        sys.stdout.write(f"{fault}\n")
    return 1 if camera.faults else 0


if __name__ == "__main__":
    sys.exit(main())
