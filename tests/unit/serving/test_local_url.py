import pytest

from factory_site.serving.parent import local_url


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8090"),
        ("0.0.0.0", "http://127.0.0.1:8090"),
        ("::", "http://[::1]:8090"),
        ("::1", "http://[::1]:8090"),
        ("localhost", "http://localhost:8090"),
        ("192.0.2.7", "http://192.0.2.7:8090"),
    ],
)
def test_the_address_for_workers_of_this_machine_is_one_that_they_accept(host, url):
    assert local_url(host, 8090) == url
