"""Whatever stands in an address, a page answers it: with a page, or with what is wrong."""

from urllib.parse import urlencode

import pytest

pytestmark = pytest.mark.django_db
HUGE = "9" * 40
NAMES = ["before", "tab", "state", "kind", "repository", "author"]
ODD = ["²", HUGE, "-1", "0", "١", "2026-01-01T00:00:00|1", f"2026-01-01T00:00:00+00:00|{HUGE}", "|", "x" * 3000]
ODD += ["0001-01-01|1", "0001-01-01T00:00:00+23:00|1", "9999-12-31T23:59:59-23:00|1"]


@pytest.mark.parametrize("path", ["/?", "/pull-requests/?tab=done&", "/tasks/?tab=answered&"])
def test_an_odd_value_in_an_address_is_no_fault(viewer, path):
    viewer.client.raise_request_exception = False
    asked = [path + urlencode({name: value}) for name in NAMES for value in ODD]
    answers = {address: viewer.get(address).status_code for address in asked}
    assert [address for address, status in answers.items() if status >= 500] == []
    assert 200 in answers.values()


@pytest.mark.parametrize("path", [f"/tasks/{HUGE}/", f"/pull-requests/acme/shop/{HUGE}/"])
def test_a_number_that_no_row_can_have_is_not_found(viewer, path):
    viewer.client.raise_request_exception = False
    assert viewer.get(path).status_code == 404


@pytest.mark.parametrize("typed", ["²", HUGE, "--1", "1.5", "x" * 500])
def test_a_number_of_rounds_that_is_none_is_told_beside_the_form(operator, typed):
    answer = operator.post("/pull-requests/", reference="acme/shop#1", max_rounds=typed)
    assert answer.status_code == 400
    assert "whole number from 1 to 100" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "fields"),
    [("/login/", {"username": "a\0", "password": "b"}), ("/pull-requests/", {"reference": "acme/shop#1\0"})],
)
def test_a_nul_character_in_a_form_reaches_no_query(operator, path, fields):
    """PostgreSQL takes none in any text."""
    answer = operator.post(path, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_field"
