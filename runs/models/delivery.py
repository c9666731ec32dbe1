"""Webhook deliveries, each admitted once by its id."""

from typing import ClassVar

from django.db import models


class WebhookDelivery(models.Model):
    """One delivery of the forge. It is a reason to look, never a fact, so no payload is kept."""

    source = models.CharField(max_length=16)
    delivery_id = models.CharField(max_length=100)
    kind = models.CharField(max_length=64)
    action = models.CharField(max_length=64, default="", blank=True)
    body_hash = models.CharField(max_length=71)
    woken = models.PositiveIntegerField(default=0)
    ignored = models.CharField(max_length=64, default="", blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "delivery_id"], name="delivery_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["at"], name="delivery_at")]

    def __str__(self) -> str:
        return f"{self.source} {self.delivery_id} {self.kind}"
