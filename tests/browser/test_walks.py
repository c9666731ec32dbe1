import pytest
from playwright.sync_api import expect

from factory_site.models import UserPreference
from runs.clock import now
from runs.humans.tasks import task_withdraw
from tests.browser.screens import OVERFLOW

PAGES = ("/", "/tasks/", "/tasks/?tab=answered", "/pull-requests/", "/pull-requests/?tab=done")


def pull_path(pull, tab=""):
    return f"/pull-requests/{pull.repository.full_name}/{pull.number}/{tab}"


@pytest.mark.parametrize("width", [320, 390, 720, 1024, 1440, 2560])
def test_no_page_scrolls_sideways(visit, world, width):
    page = visit("/", width=width)
    pulls = [pull_path(pull, tab) for pull in (world.waiting, world.merged) for tab in ("", "?tab=audit", "?tab=merge")]
    wide = {}
    for path in (*PAGES, f"/tasks/{world.task.pk}/", pull_path(world.escalated, "?tab=escalations"), *pulls):
        page.goto(path)
        wide[path] = page.evaluate(OVERFLOW)
    assert {path: over for path, over in wide.items() if over > 0} == {}


def test_a_task_is_found_answered_and_seen_answered_on_a_phone(visit, world):
    """CO-S24: at 390 px, from Overview to the result."""
    page = visit("/", width=390)
    page.get_by_role("link", name="Answer Review question about acme/web#398").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("acme/web#398")
    page.get_by_label("Your answer").fill("Per upload, as the issue says.")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Your answer is recorded.")).to_be_visible()
    expect(page.locator("#state-line")).to_contain_text("by ops-1")
    world.task.refresh_from_db()
    assert world.task.variables["answer"] == "Per upload, as the issue says."


def test_every_act_works_with_scripts_off(visit, world):
    """CO-H7: forms are forms."""
    page = visit(f"/tasks/{world.task.pk}/", scripts=False)
    expect(page.locator("#liveness")).to_contain_text("Refresh")
    page.get_by_label("Your answer").fill("Per upload.")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("#state-line")).to_contain_text("Answered")
    world.task.refresh_from_db()
    assert world.task.answered_by == "operator:ops-1"
    page.goto(pull_path(world.waiting))
    page.get_by_role("button", name="Look now").click()
    expect(page.get_by_role("status")).to_contain_text("is looked at now")
    page.get_by_text("Cancel…").click()
    page.get_by_label("Reason").fill("superseded by #430")
    page.get_by_role("button", name="Cancel pull request").click()
    expect(page.locator("#live")).to_contain_text("Abandoned")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_class("theme-dark")
    page.goto("/pull-requests/")
    page.get_by_text("Submit a pull request…").click()
    page.get_by_label("Pull request (required)").fill("nonsense")
    page.get_by_role("button", name="Submit pull request").click()
    expect(page.get_by_role("alert")).to_contain_text("bad_reference")
    expect(page.get_by_label("Pull request (required)")).to_have_value("nonsense")


def test_a_pull_request_is_cancelled_by_keyboard_alone(visit, world):
    """A chord to the list, down the rows, open, cancel with a reason."""
    page = visit("/")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/pull-requests/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(f"**{pull_path(world.waiting)}")
    page.keyboard.press("x")
    page.keyboard.type("superseded by #430")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#live")).to_contain_text("Abandoned")
    world.waiting.refresh_from_db()
    assert world.waiting.state == "abandoned"


def test_the_second_key_of_a_chord_fires_nothing_else(visit, world):
    """CO-H31: `g` then `t` goes to Tasks and does not switch the clocks; nothing in a field or once switched off."""
    page = visit("/pull-requests/")
    page.get_by_label("Author").focus()
    page.keyboard.type("gt?.")
    expect(page.get_by_label("Author")).to_have_value("gt?.")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/tasks/")
    expect(page.locator("body")).not_to_have_class("absolute")
    UserPreference.objects.create(user=world.operator, single_keys=False)
    page.reload()
    for key in ("g", "p", "?", "j", "."):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-row][aria-current]")).to_have_count(0)
    assert page.url.endswith("/tasks/")


def test_a_change_arrives_without_a_reload_and_leaves_the_caret_alone(visit, world):
    """CO-H5: the row goes, what is typed beside it stays."""
    page = visit("/pull-requests/?tab=you")
    field = page.get_by_label("Repository")
    field.focus()
    page.keyboard.type("acme/we")
    expect(page.locator(f"#pull-{world.escalated.pk}")).to_be_visible()
    type(world.escalated).objects.filter(pk=world.escalated.pk).update(state="converging", updated_at=now())
    page.evaluate("htmx.trigger('#pull-table', 'live')")
    expect(page.locator(f"#pull-{world.escalated.pk}")).to_have_count(0)
    expect(field).to_be_focused()
    page.keyboard.type("b")
    expect(field).to_have_value("acme/web")


def test_a_review_lands_and_the_page_moves_on(visit, world):
    """CO-S5: the page names head, reviewer, last look, timer and its effect, and follows without a reload."""
    page = visit(pull_path(world.waiting))
    why = page.locator("section.why")
    for named in (world.waiting.head_sha[:7], "copilot", "last look", "Otherwise, in 13 min: a person is asked"):
        expect(why).to_contain_text(named)
    page.get_by_text("Cancel…").click()
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("half a rea")
    flow = world.waiting.convergence_flows.get()
    type(flow).objects.filter(pk=flow.pk).update(state="review_round", round=5, version=9, timer_at=None)
    page.evaluate("htmx.trigger('#live', 'live')")
    expect(page.locator("#live")).to_contain_text("round 5 of 20")
    page.keyboard.type("son")
    expect(page.get_by_label("Reason")).to_have_value("half a reason")


def test_a_draft_survives_a_question_that_ends_meanwhile(visit, world):
    """CO-H30: typed text survives the 409."""
    page = visit(f"/tasks/{world.task.pk}/")
    page.get_by_label("Your answer").fill("my long thoughts")
    task_withdraw(world.task, reason="it was merged", now=now())
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("alert")).to_contain_text("no longer open")
    expect(page.get_by_text("my long thoughts")).to_be_visible()


def test_an_unchanged_page_is_polled_but_not_swapped(visit, world):
    """CO-H4: the browser hands the 304 through and keeps what it shows."""
    page = visit(pull_path(world.waiting))
    page.evaluate("document.getElementById('live').dataset.kept = 'yes'")
    with page.expect_response(lambda answer: answer.request.headers.get("hx-target") == "live") as polled:
        page.evaluate("htmx.trigger('#live', 'live')")
    assert polled.value.status == 304
    assert page.evaluate("document.getElementById('live').dataset.kept") == "yes"


def test_a_hidden_or_paused_page_asks_for_nothing(visit):
    """CO-H6, CO-S20: no request in an hour while hidden, one at once on return; none while paused."""
    page = visit("/")
    page.clock.install()
    page.goto("/tasks/")
    hide = (
        "Object.defineProperty(document, 'hidden', {{configurable: true, get: () => {}}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    page.evaluate(hide.format("true"))
    expect(page.locator("#liveness")).to_contain_text("Paused: tab in background")
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(3_600_000)
    assert asked == []
    with page.expect_request("**/pulse/"):
        page.evaluate(hide.format("false"))
    with page.expect_request("**/preferences/"):
        page.get_by_role("button", name="Live").click()
    expect(page.locator("#liveness")).to_contain_text("Paused by you")
    asked.clear()
    page.clock.run_for(3_600_000)
    assert asked == []


def test_a_browser_clock_that_is_wrong_changes_no_age(visit, world):
    """CO-H26: ages come from the server's clock."""
    page = visit("/")
    page.context.add_init_script("const real = Date.now; Date.now = () => real() + 3600e3;")
    page.goto(f"/tasks/{world.task.pk}/")
    expect(page.locator("#liveness")).to_contain_text("Live")
    expect(page.locator("#state-line")).to_contain_text("due in 23 h 5")
    expect(page.locator("#state-line")).to_contain_text("asked 6 min ago")
