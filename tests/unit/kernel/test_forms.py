import pytest

from runs.contract.errors import Invalid
from runs.humans.forms import answer_check, form_check
from runs.humans.tasks import question_cut

FORM = {
    "fields": [
        {"id": "shown", "kind": "readonly", "label": "Head", "value": "9f3c2e1"},
        {
            "id": "resolution",
            "kind": "choice",
            "label": "What next",
            "default": "retry",
            "choices": [{"id": "retry", "label": "Go on"}, {"id": "abandon", "label": "Abandon"}],
        },
        {"id": "answer", "kind": "long_text", "label": "Answer", "requiredWhen": {"resolution": ["retry"]}},
        {"id": "extraRounds", "kind": "number", "label": "Rounds", "minimum": 0, "maximum": 20, "integer": True},
        {"id": "sure", "kind": "boolean", "label": "Sure"},
    ]
}


def test_an_answer_alone_completes_a_form_whose_choice_has_a_default():
    assert answer_check(FORM, {"answer": "  use the second one \n"}) == {
        "answer": "use the second one",
        "resolution": "retry",
    }


def test_a_field_is_needed_only_for_the_choice_that_needs_it():
    assert answer_check(FORM, {"resolution": "abandon"}) == {"resolution": "abandon"}


@pytest.mark.parametrize(
    ("variables", "wrong"),
    [
        ({}, {"answer": "required"}),
        ({"answer": "   "}, {"answer": "required"}),
        ({"answer": 5}, {"answer": "wrong_kind"}),
        ({"answer": "x" * 20_001}, {"answer": "out_of_range"}),
        ({"answer": "x", "resolution": "maybe"}, {"resolution": "not_a_choice"}),
        ({"answer": "x", "other": 1}, {"other": "unknown_field"}),
        ({"answer": "x", "shown": "y"}, {"shown": "unknown_field"}),
        ({"answer": "x", "extraRounds": 21}, {"extraRounds": "out_of_range"}),
        ({"answer": "x", "extraRounds": 1.5}, {"extraRounds": "wrong_kind"}),
        ({"answer": "x", "extraRounds": True}, {"extraRounds": "wrong_kind"}),
        ({"answer": "x", "extraRounds": float("inf")}, {"extraRounds": "wrong_kind"}),
        ({"answer": "x", "extraRounds": float("nan")}, {"extraRounds": "wrong_kind"}),
        ({"answer": "x", "sure": "yes"}, {"sure": "wrong_kind"}),
    ],
)
def test_a_wrong_answer_names_each_field_and_how(variables, wrong):
    with pytest.raises(Invalid) as caught:
        answer_check(FORM, variables)
    assert caught.value.code == "invalid_answer"
    assert caught.value.details["fields"] == wrong


@pytest.mark.parametrize(
    "form",
    [
        {"fields": [{"id": "a", "kind": "text"}, {"id": "a", "kind": "text"}]},
        {"fields": [{"id": "a", "kind": "colour"}]},
        {"fields": [{"id": "a", "kind": "choice", "choices": []}]},
        {"fields": [{"id": str(n), "kind": "text"} for n in range(9)]},
    ],
)
def test_a_form_that_nobody_could_answer_is_refused_when_it_is_made(form):
    with pytest.raises(ValueError, match=r"form|field"):
        form_check(form)


def test_a_long_question_is_cut_at_a_word():
    cut = question_cut("word " * 100)
    assert len(cut) <= 280
    assert cut.endswith("word…")
    assert question_cut(" short\n one ") == "short one"
