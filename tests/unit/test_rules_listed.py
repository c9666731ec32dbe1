"""A reader of a test finds every id that it names in `docs/rules/`."""

from tests.rules import differences


def test_every_claimed_rule_is_listed_and_every_listed_one_claimed():
    assert differences() == []
