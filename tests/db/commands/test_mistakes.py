"""A person's mistake at the command line is one line that says what to do."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from runs.commands import life_given


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("90d", timedelta(days=90)),
    ],
)
def test_a_life_is_a_number_with_its_unit(text, span):
    assert life_given(text) == span


@pytest.mark.parametrize("text", ["", "0d", "-1d", "90", "d", "1w", "1.5h", "999999d"])
def test_a_life_that_says_no_span_is_refused_with_an_example(text):
    with pytest.raises(CommandError, match="such as 90d"):
        life_given(text)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "argv",
    [
        ("tokens", "revoke", "nobody"),
        ("credentials", "revoke", "nobody"),
        ("submit", "no reference"),
        ("verify_journal", "--run", "nothing"),
    ],
)
def test_what_the_product_refuses_is_a_sentence(argv):
    with pytest.raises(CommandError) as caught:
        call_command(*argv)
    assert "Traceback" not in str(caught.value)
    assert str(caught.value).strip()


@pytest.mark.django_db
def test_a_database_without_its_tables_is_told_with_what_to_do():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE runs_apitoken RENAME TO gone")
    with pytest.raises(CommandError, match=r"manage\.py serve"):
        call_command("tokens", "list")
