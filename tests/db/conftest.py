"""What every test on a database begins with."""

import pytest

from factory_site.doctor.report import findings_forget


@pytest.fixture(autouse=True)
def nothing_found_yet():
    """No finding of the test before."""
    findings_forget()
