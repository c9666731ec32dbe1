import pytest

from runs.contract.errors import Transient
from workers.wire.limits import BURST, REQUESTS_PER_SECOND, BadTokens, RequestRate, Uploads


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def test_a_quiet_credential_may_burst_and_then_sends_at_a_steady_rate():
    clock = Clock()
    rate = RequestRate(clock)
    for _ in range(int(BURST)):
        rate.take(1)
    with pytest.raises(Transient) as refused:
        rate.take(1)
    assert refused.value.retry_after == pytest.approx(1 / REQUESTS_PER_SECOND)
    rate.take(2)
    clock.seconds = 1.0
    for _ in range(int(REQUESTS_PER_SECOND)):
        rate.take(1)
    with pytest.raises(Transient):
        rate.take(1)


def test_bad_tokens_are_counted_by_address_within_a_minute():
    clock = Clock()
    tokens = BadTokens(clock)
    for _ in range(20):
        tokens.count("192.0.2.1")
    with pytest.raises(Transient) as refused:
        tokens.count("192.0.2.1")
    assert refused.value.retry_after == pytest.approx(60)
    tokens.count("192.0.2.2")
    clock.seconds = 60.0
    tokens.count("192.0.2.1")


def test_many_addresses_do_not_stay_in_memory():
    clock = Clock()
    tokens = BadTokens(clock)
    for number in range(1002):
        tokens.count(f"address {number}")
    clock.seconds = 60.0
    tokens.count("another")
    assert len(tokens._seen) == 1


def test_a_credential_has_four_places_for_uploads():
    uploads = Uploads()
    with uploads.one(1), uploads.one(1), uploads.one(1), uploads.one(1):
        with pytest.raises(Transient), uploads.one(1):
            pass
        with uploads.one(2):
            pass
    with uploads.one(1):
        pass
