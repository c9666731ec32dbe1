"""Branches that the product itself made: the only ones that it ever deletes."""

from typing import ClassVar

from django.db import models


class OwnBranch(models.Model):
    """One branch that was made here; ``deleted_at`` once its deletion was read back."""

    repository_id = models.BigIntegerField()  # of the forge
    name = models.CharField(max_length=255)
    made_by = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["repository_id", "name"], name="own_branch_once")]

    def __str__(self) -> str:
        return self.name
