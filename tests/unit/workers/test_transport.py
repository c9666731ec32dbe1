import pytest
from django.test import RequestFactory

from runs.contract.errors import Refused
from workers.wire.transport import tls_check

PROXIES = ("10.0.0.0/8", "not an address", "2001:db8::1")


@pytest.mark.parametrize(
    ("peer", "stated", "secure"),
    [
        ("10.1.2.3", "https", True),
        ("10.1.2.3", "http", False),
        ("10.1.2.3", "", False),
        ("2001:db8::1", "https", True),
        ("192.0.2.1", "https", False),
        ("", "https", False),
        ("127.0.0.1", "", True),
        ("127.0.0.1", "http", True),
    ],
)
def test_a_trusted_proxys_word_counts_and_nobody_elses(peer, stated, secure):
    headers = {"X-Forwarded-Proto": stated} if stated else {}
    request = RequestFactory().post("/worker/v1/hello", REMOTE_ADDR=peer, headers=headers)
    if secure:
        tls_check(request, trusted_proxies=PROXIES)
    else:
        with pytest.raises(Refused, match="HTTPS"):
            tls_check(request, trusted_proxies=PROXIES)
