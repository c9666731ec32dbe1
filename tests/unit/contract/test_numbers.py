import pytest

from runs.contract.numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_ascii_digits_are_a_number(text, number):
    assert whole_number(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "1e3", "²", "١", "1_000", "9" * 19, "9" * 5000])
def test_any_other_text_is_none(text):
    assert whole_number(text) is None
