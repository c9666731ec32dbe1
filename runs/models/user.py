"""People who log in, and what each may do."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    """What a person may do; each role may do everything of the one before it."""

    VIEWER = "viewer", "Viewer"
    OPERATOR = "operator", "Operator"
    ADMIN = "admin", "Admin"

    def covers(self, other: Role) -> bool:
        """Whether who has this role may do what the other one may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class User(AbstractUser):
    """A person. Django's own groups and permissions stay unused; the role decides."""

    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)

    class Meta(AbstractUser.Meta):
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="user_role_known"),
        ]

    def may(self, role: Role) -> bool:
        """Whether this person has the role or a higher one."""
        return Role(self.role).covers(role)
