"""Rows that tests start from; each respects the constraints of its table."""

import factory

from runs.models import User
from runs.models.user import Role


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User

    username = factory.Sequence(lambda number: f"person-{number}")
    role = Role.VIEWER
