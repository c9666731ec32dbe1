"""What a repository declares about how its pull requests land, as read from a base branch."""

from typing import ClassVar

from django.db import models


class MergeProtocol(models.Model):
    """The newest reading of one base branch, and the last one that was valid.

    ``parsed`` is the last valid declaration, null while none is known; ``valid`` and ``error`` speak of the newest.
    """

    repository_id = models.BigIntegerField()  # of the forge
    base_ref = models.CharField(max_length=255)
    base_sha = models.CharField(max_length=40)  # the commit that was read
    source = models.CharField(max_length=100, default="", blank=True)  # path of the file; blank: none declares anything
    content_hash = models.CharField(max_length=71, default="", blank=True)
    parsed = models.JSONField(null=True)
    valid = models.BooleanField()
    error = models.CharField(max_length=300, default="", blank=True)
    warnings = models.JSONField(default=list)
    read_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository_id", "base_ref"], name="merge_protocol_once"),
            models.CheckConstraint(
                condition=models.Q(valid=False) | models.Q(parsed__isnull=False), name="merge_protocol_valid_is_parsed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source or 'nothing declared'} at {self.base_sha[:7]}"
