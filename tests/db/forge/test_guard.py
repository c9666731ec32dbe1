"""No call to the forge inside a transaction."""

import pytest
from django.db import transaction

from convergence.forge.guard import forge_guard


@pytest.mark.django_db
def test_a_call_inside_a_transaction_raises_at_once_in_a_wrapped_test():
    """GH-S30, GH-H1: the wrapper of the test itself does not count, a block of the product does."""
    forge_guard()
    with transaction.atomic():
        with pytest.raises(RuntimeError, match="inside a transaction"):
            forge_guard()
        with transaction.atomic(), pytest.raises(RuntimeError):
            forge_guard()
    forge_guard()


@pytest.mark.django_db(transaction=True)
def test_a_call_inside_a_transaction_raises_at_once_without_any_wrapper():
    """GH-S30: the same where nothing wraps the caller, as in production."""
    forge_guard()
    with transaction.atomic(durable=True), pytest.raises(RuntimeError, match="inside a transaction"):
        forge_guard()
    forge_guard()
