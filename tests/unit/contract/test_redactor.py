"""No secret passes the redactor, whatever its form."""

import base64
import json
from urllib.parse import quote

import pytest

from runs.contract.redactor import SHAPES, RedactedStream, Redactor, self_test

SECRET = 'hunter2/"é+secret='


def test_self_test_passes():
    self_test()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_each_shape_takes_its_positive_and_leaves_its_negative_example(shape):
    assert f"[redacted:{shape.kind}]" in Redactor().redact(f"before {shape.positive} after")
    assert Redactor().redact(f"before {shape.negative} after") == f"before {shape.negative} after"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        quote(SECRET, safe=""),
        base64.b64encode(f"x-access-token:{SECRET}".encode()).decode(),
        *(base64.b64encode(b"#" * shift + SECRET.encode() + b"tail").decode() for shift in range(3)),
    ],
)
def test_a_held_value_is_found_raw_and_encoded(form):
    """AD-H14: what is left of an encoded secret does not decode to it."""
    redactor = Redactor({"forge": [SECRET]})
    out = redactor.redact(f"a {form} b")
    assert "[redacted:forge]" in out
    assert redactor.counts["forge"] == 1


def test_short_values_are_left_alone():
    assert Redactor({"token": ["1842"]}).redact("line 1842") == "line 1842"


def test_a_private_key_block_is_replaced_across_lines():
    stream = RedactedStream(Redactor())
    lines = ["x -----BEGIN RSA PRIVATE KEY-----\n", "MIIabc\n", "zz\n-----END RSA PRIVATE KEY----- y\n", "after\n"]
    assert "".join(stream.feed(line) for line in lines) == "x [redacted:private_key]\n y\nafter\n"


@pytest.mark.parametrize("at", range(0, 64, 7))
def test_a_cut_splits_no_secret(at):
    """AD-H14"""
    redactor = Redactor({"forge": [SECRET]})
    text = "." * (redactor.overlap // 2) + SECRET + "." * (redactor.overlap - len(SECRET) + at - 32)
    front, rest = redactor.cut(text)
    assert SECRET not in front
    assert (front + redactor.redact(rest)).count("[redacted:forge]") == 1


def test_documents_are_redacted_in_every_string():
    redactor = Redactor({"forge": [SECRET]})
    assert redactor.redact_document({"a": [SECRET, 1, None], "b": {"c": SECRET}}) == {
        "a": ["[redacted:forge]", 1, None],
        "b": {"c": "[redacted:forge]"},
    }


def test_binary_content_is_searched_by_value():
    redactor = Redactor({"forge": [SECRET]})
    assert redactor.holds_secret(b"\0" + SECRET.encode() + b"\xff")
    assert not redactor.holds_secret(b"\0\xff")
