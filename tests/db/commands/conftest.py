"""A shell of a person: who types, what a command says, and how it refuses."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from runs.nudge import _starter


@pytest.fixture(autouse=True)
def dana(monkeypatch):
    """Dana types the commands."""
    monkeypatch.setenv("LOGNAME", "dana")
    yield
    _starter.clear()  # a command of this process wakes passes through huey; the next test has none


def manage(*argv):
    """What the command prints."""
    said = StringIO()
    call_command(*argv, stdout=said)
    return said.getvalue()


def refused(*argv):
    """The one line with which the command refuses."""
    with pytest.raises(CommandError) as told:
        manage(*argv)
    assert "\n" not in str(told.value)
    return str(told.value)
