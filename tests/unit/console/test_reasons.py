import pytest

from factory_site.console.wording.reasons import reason_of
from runs.contract.codes import COMPLETIONS, FAILURES, REFUSALS
from runs.queue.cancel import CANCEL_CODES

ENDS_BADLY = sorted({*FAILURES, *REFUSALS})
WAITS = ["backoff", "exclusive", "unplaceable", "no_free_worker", "next_in_line", "subject_budget", "run_budget"]
ALL = sorted({*ENDS_BADLY, *COMPLETIONS, *CANCEL_CODES, *WAITS})


@pytest.mark.parametrize("code", ALL)
def test_every_reason_code_has_a_sentence(code):
    """CO-H27: in words, not the code itself."""
    sentence = reason_of(code).sentence
    assert sentence[0].isupper()
    assert sentence != code.replace("_", " ").capitalize()


@pytest.mark.parametrize("code", ENDS_BADLY)
def test_whatever_ends_badly_has_a_next_step(code):
    """CO-H27: what to do, or that nothing is to be done."""
    assert reason_of(code).step


def test_an_unknown_code_is_shown_as_itself():
    """CO-H27: nothing is blank and nothing is made up."""
    assert reason_of("flux_capacitor").sentence == "Flux capacitor"
