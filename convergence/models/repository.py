"""Repositories by their number; names are attributes that may change."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Lower


class Repository(models.Model):
    """One repository of the forge. ``forge_id`` never changes; owner and name are as the forge spells them now."""

    forge_id = models.BigIntegerField(unique=True)
    owner = models.CharField(max_length=39)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(Lower("owner"), Lower("name"), name="repository_name")]

    def __str__(self) -> str:
        return self.full_name

    @property
    def full_name(self) -> str:
        """``owner/name``."""
        return f"{self.owner}/{self.name}"


class RepositoryAlias(models.Model):
    """A name that a repository had before; references by it keep resolving until another repository takes it."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="aliases")
    owner = models.CharField(max_length=39)
    name = models.CharField(max_length=100)
    since = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "name", "since"], name="alias_once"),
        ]
        indexes: ClassVar = [models.Index(Lower("owner"), Lower("name"), name="alias_name")]

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"
