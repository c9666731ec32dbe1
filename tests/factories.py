"""Rows that tests start from; each respects the constraints of its table."""

import factory.django
from factory.declarations import Sequence

from runs.models import User
from runs.models.user import Role


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    username = Sequence(lambda number: f"person-{number}")
    role = Role.VIEWER
