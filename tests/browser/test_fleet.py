import pytest
from playwright.sync_api import expect

from runs.clock import now
from runs.models import AttemptOutcome, Run
from tests.browser.fleet import Fleet, add_entry, fill_fleet
from tests.browser.screens import OVERFLOW, axe_findings

HIDE = (
    "Object.defineProperty(document, 'hidden', {{configurable: true, get: () => {}}});"
    "document.dispatchEvent(new Event('visibilitychange'))"
)


@pytest.fixture
def fleet(world) -> Fleet:
    return fill_fleet(world)


def long_trace(attempt, first, last):
    for seq in range(first, last + 1):
        add_entry(attempt, seq, "assistant_text", {"text": f"step {seq}"})


def test_a_live_trace_grows_and_leaves_a_reader_where_he_is(fleet, visit):
    """CO-S15: entries arrive at the end; whoever has scrolled up stays there and is told how many are new."""
    attempt = fleet.running.attempts.get()
    long_trace(attempt, 9, 80)
    page = visit(f"/runs/{fleet.running.run_id}/")
    trace = page.locator("#trace")
    expect(trace.get_by_text("step 80", exact=True)).to_be_in_viewport()
    add_entry(attempt, 81, "assistant_text", {"text": "step 81"})
    expect(trace.get_by_text("step 81", exact=True)).to_be_in_viewport()
    trace.evaluate("box => { box.scrollTop = 0; }")
    expect(page.get_by_role("button", name="Follow")).to_have_attribute("aria-pressed", "false")
    long_trace(attempt, 82, 111)
    expect(page.get_by_role("button", name="30 new entries")).to_be_visible()
    assert trace.evaluate("box => box.scrollTop") == 0
    page.get_by_role("button", name="30 new entries").click()
    expect(trace.get_by_text("step 111", exact=True)).to_be_in_viewport()


def test_a_late_result_joins_its_call_and_an_ended_attempt_is_asked_no_more(fleet, visit):
    attempt = fleet.running.attempts.get()
    add_entry(attempt, 9, "tool_use", {"id": "t9", "name": "bash", "input": {"command": "make test"}})
    page = visit(f"/runs/{fleet.running.run_id}/")
    call = page.locator("#entry-9")
    expect(call).to_contain_text("make test")
    add_entry(attempt, 10, "tool_result", {"toolUseId": "t9", "isError": True, "content": "2 failing"})
    expect(call).to_contain_text("2 failing")
    expect(call).to_contain_text("Error")
    expect(page.locator("#entry-10")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.locator(".entry[aria-current=true]")).to_have_count(1)
    type(attempt).objects.filter(pk=attempt.pk).update(outcome=AttemptOutcome.CANCELLED, finished_at=now())
    expect(page.locator("#trace-state")).to_contain_text("The attempt has ended")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/trace/" in request.url else None)
    with page.expect_request("**/pulse/"):
        pass
    assert asked == []


def test_a_hidden_trace_asks_for_nothing(fleet, visit):
    """CO-H6: no request while hidden; one at once on return."""
    page = visit("/runs/")
    page.clock.install()
    page.goto(f"/runs/{fleet.running.run_id}/", wait_until="networkidle")  # the icon comes after the page
    page.evaluate(HIDE.format("true"))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(600_000)
    assert asked == []
    with page.expect_request("**/trace/**"):
        page.evaluate(HIDE.format("false"))


def test_a_run_is_cancelled_by_keyboard_alone(fleet, visit):
    """CO-H7: a chord to the runs, down the rows, open, cancel with a reason; the page says so by itself."""
    page = visit("/")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(f"**/runs/{fleet.running.run_id}/")
    page.keyboard.press("x")
    page.keyboard.type("wrong branch")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#live")).to_contain_text("Cancelled")
    assert Run.objects.get(pk=fleet.running.pk).state == "cancelled"


@pytest.mark.parametrize("width", [320, 390, 720, 1024, 1440])
def test_no_page_of_the_machine_scrolls_sideways_or_has_a_finding(fleet, visit, width):
    """CO-H21: from 320 px on nothing overflows, and axe-core finds nothing."""
    page = visit("/", width=width)
    wrong = []
    for path in (
        "/runs/?tab=all",
        f"/runs/{fleet.failed.run_id}/",
        f"/runs/{fleet.unplaceable.run_id}/?tab=placement",
        f"/runs/{fleet.completed.run_id}/?tab=journal",
        "/workers/",
        f"/workers/{fleet.busy}/",
        "/agents/",
        "/agents/pr-review@1/?tab=versions",
        "/doctor/",
    ):
        page.goto(path)
        if page.evaluate(OVERFLOW) > 0:
            wrong.append(f"{path} overflows")
        page.set_viewport_size({"width": width, "height": page.evaluate("document.documentElement.scrollHeight")})
        wrong += [f"{path} {finding}" for finding in axe_findings(page)]
    assert wrong == []
