import hashlib
import hmac

import pytest

from runs.contract.errors import Invalid
from runs.intake.signature import signature_check

BODY = b'{"action":"opened"}'


def signed(secret: str, body: bytes = BODY) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_either_of_two_secrets_is_accepted_while_one_is_rotated():
    signature_check(BODY, signed("old"), ["new", "old"])
    signature_check(BODY, signed("new"), ["new", "old"])


@pytest.mark.parametrize(
    ("header", "secrets", "code"),
    [
        (signed("s"), [], "missing_secret"),
        (None, ["s"], "missing_signature"),
        ("sha256=abc", ["s"], "missing_signature"),
        (signed("other"), ["s"], "bad_signature"),
        (signed("s", BODY + b" "), ["s"], "bad_signature"),
    ],
)
def test_a_delivery_that_proves_nothing_is_refused_by_code(header, secrets, code):
    with pytest.raises(Invalid) as caught:
        signature_check(BODY, header, secrets)
    assert caught.value.code == code
