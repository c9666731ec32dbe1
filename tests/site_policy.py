"""The policy of the data folder, as an operator would edit it while a test runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from runs.policy import policy_forget


@contextmanager
def edited_policy(text: str) -> Iterator[None]:
    """Have ``text`` as the file of the data folder, in force at once and until the end of the block."""
    path = settings.FACTORY.home / "policy.yaml"
    before = path.read_text() if path.exists() else None
    path.write_text(text)
    policy_forget()
    try:
        yield
    finally:
        path.unlink() if before is None else path.write_text(before)
        policy_forget()
