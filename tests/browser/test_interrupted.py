"""What interrupts a visit: the sign-in ends, the server is away, a new version is served; a long run read by keys."""

import re

from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from runs.models import HumanTask
from tests.browser.fleet import add_entry, fill_fleet
from tests.browser.screens import sign_in


def test_a_sign_in_that_ends_is_renewed_in_another_tab_and_the_same_form_is_sent(visit, world):
    """CO-S19: the banner leads to the door in a new tab; the form still has its text, and goes through."""
    page = visit(f"/tasks/{world.task.pk}/")
    page.get_by_label("Your answer").fill("Per upload, as the issue says.")
    Session.objects.all().delete()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    sign_in(opened.value, page.url.split("/tasks/")[0], world.operator.username, "correct horse battery")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Your answer is recorded.")).to_be_visible()
    assert HumanTask.objects.get(pk=world.task.pk).variables["answer"] == "Per upload, as the issue says."


def test_a_server_that_is_away_loses_no_text_and_acts_once(visit, world):
    """CO-S18: the banner with the age, a sentence where the form is sent, and a current page on return."""
    page = visit("/")
    page.clock.install()
    page.goto(f"/tasks/{world.task.pk}/")
    page.get_by_label("Your answer").fill("Per upload.")
    page.route("**/*", lambda _: None)  # an answer to the region's own look would be a sign of life, too
    page.route("**/pulse/", lambda route: route.fulfill(status=503))
    page.clock.run_for(60_000)
    expect(page.locator("#connection")).to_contain_text("Not updated since")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was sent; what you typed stays here.")
    assert HumanTask.objects.get(pk=world.task.pk).state == "open"
    page.unroute_all(behavior="ignoreErrors")
    with page.expect_response("**/pulse/"):
        page.get_by_role("link", name="Retry now").click()
    expect(page.locator("#connection")).to_be_hidden()
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Your answer is recorded.")).to_be_visible()
    assert HumanTask.objects.get(pk=world.task.pk).variables["answer"] == "Per upload."


def test_a_new_version_is_offered_and_never_taken_by_itself(visit):
    """CO-S30"""
    page = visit("/tasks/")
    seen = {"counts": {}, "title": "", "banners": [], "version": "99.1"}
    page.route("**/pulse/", lambda route: route.fulfill(json=seen))
    offer = page.get_by_role("link", name="Reload for version 99.1")
    expect(offer).to_be_visible(timeout=15_000)  # the frame looks every five seconds
    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    page.get_by_role("link", name="Answered").click()
    expect(page).to_have_url(re.compile(r"/tasks/\?tab=answered$"))
    expect(offer).to_be_visible(timeout=15_000)


def test_every_error_of_a_long_failed_run_is_reached_by_keys(visit, world):
    """CO-S14: its first error stands on top, `e` leaves the errors, `n` goes from one to the next, a search marks."""
    fleet = fill_fleet(world)
    attempt = fleet.failed.attempts.get()
    for seq in range(100, 2_000):
        add_entry(attempt, seq, "assistant_text", {"text": f"step {seq}"})
    add_entry(attempt, 2_000, "tool_use", {"id": "t9", "name": "bash", "input": {"command": "make test"}})
    add_entry(attempt, 2_001, "tool_result", {"toolUseId": "t9", "isError": True, "content": "2 failing"})
    page = visit(f"/runs/{fleet.failed.run_id}/")
    expect(page.locator(".failure")).to_contain_text("First error")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("only=errors"))
    errors = page.locator(".entry.is-error")
    expect(errors.first).to_be_visible()
    reached = set()
    for _ in range(errors.count()):
        page.keyboard.press("n")
        reached.add(page.locator(".entry[aria-current=true]").get_attribute("id"))
    assert len(reached) == errors.count() > 1
    page.goto(f"/runs/{fleet.failed.run_id}/?q=make")
    expect(page.locator(".entry mark").first).to_have_text("make")
