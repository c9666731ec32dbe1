import pytest

from merging.flow import MERGE_MACHINE
from merging.forms import merge_form
from merging.texts import QUESTIONS, WITHDRAWN_WHEN, Case, merge_question
from runs.contract.errors import Invalid
from runs.humans.forms import answer_check, form_check

CASE = Case(
    key="acme/shop#12",
    url="https://forge.example/acme/shop/pull/12",
    title="Sum the `list`",
    head="9f3c2e1" + "0" * 33,
    base_ref="main",
    verdict="blocked",
    verdict_reason="checks_failing",
    failing=(("test", "https://forge.example/runs/1"), ("lint", "")),
    attempts=("retry, base_modified: 9f3c2e1 Base branch was modified",),
    counters={"mergeRetry": (6, 5), "returns": (3, 3)},
    landed_sha="c" * 40,
    words="Base branch was modified.",
    dependencies=("acme/shop#9",),
    agent="fix-ci",
    asked="Which of the two totals is right?",
)
REASONS = sorted({edge.reason for edge in MERGE_MACHINE.edges} - {""})


@pytest.mark.parametrize("reason", REASONS)
def test_every_question_names_its_pull_request_and_fits_one_line(reason):
    """MG-H9: no question is blank, and each says what its choices do."""
    question = merge_question(reason, CASE)

    assert question.text.startswith("acme/shop#12: ")
    assert len(question.text) <= 280
    assert "\n" not in question.text
    assert question.text.endswith("?")
    assert "Retry:" in question.context
    assert "Abandon:" in question.context
    assert WITHDRAWN_WHEN[reason] in question.context
    assert "mergeRetry: 6 of 5" in question.context


@pytest.mark.parametrize("reason", REASONS)
def test_a_question_holds_even_without_facts(reason):
    empty = Case(key="acme/shop#12", url="", title="", head=None, base_ref="", asked="Which one?")
    assert merge_question(reason, empty).text.strip()


def test_every_question_of_the_table_has_its_words():
    assert set(REASONS) == set(QUESTIONS) == set(WITHDRAWN_WHEN)


def test_text_from_outside_is_quoted():
    context = merge_question("draft", CASE).context
    assert "`Sum the 'list'`" in context


@pytest.mark.parametrize("reason", REASONS)
def test_an_answer_alone_is_a_retry_and_abandoning_needs_none(reason):
    form = merge_form(reason)
    form_check(form)
    assert answer_check(form, {"answer": "Go on."}) == {"resolution": "retry", "answer": "Go on."}
    assert answer_check(form, {"resolution": "abandon"}) == {"resolution": "abandon"}


def test_a_dropped_dependency_is_one_of_those_that_are_listed():
    form = merge_form("dependency_closed", ["acme/shop#9"])
    form_check(form)
    dropped = {"resolution": "drop_dependency", "dependency": "acme/shop#9"}
    assert answer_check(form, dropped) == dropped
    for wrong in ({"resolution": "drop_dependency"}, {**dropped, "dependency": "acme/shop#1"}):
        with pytest.raises(Invalid) as refused:
            answer_check(form, wrong)
        assert set(refused.value.details["fields"]) == {"dependency"}
