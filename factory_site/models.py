"""The console's own tables; they hold no state of the product."""

from typing import ClassVar

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class Theme(models.TextChoices):
    """Which colours a person sees."""

    AUTOMATIC = "auto", "Automatic"
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class UserPreference(models.Model):
    """How one person likes the console; a person without a row has the defaults."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preference")
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.AUTOMATIC)
    live = models.BooleanField(default=True)
    single_keys = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(theme__in=Theme.values), name="preference_theme_known"),
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class Submission(models.Model):
    """One form that a person sent, by the UUID printed in it: the same one acts once and is answered the same."""

    key = models.UUIDField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="submissions")
    path = models.CharField(max_length=500)
    created_at = models.DateTimeField(db_index=True)
    location = models.CharField(max_length=500, default="", blank=True)  # blank: the first send is still in hand
    message = models.CharField(max_length=500, default="", blank=True)

    def __str__(self) -> str:
        return f"{self.key} {self.path}"


class SignInFailure(models.Model):
    """Wrong passwords for one name from one address; `paused_until` answers every further try until then."""

    name = models.CharField(max_length=150)
    address = models.CharField(max_length=45)
    failed_at = models.JSONField(default=list)  # ISO instants of the last wrong passwords, oldest first
    paused_until = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["name", "address"], name="sign_in_failure_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} from {self.address}"


class Backup(models.Model):
    """A backup that was taken or restored, and what it held; the file may have been moved since."""

    taken_at = models.DateTimeField(db_index=True)
    path = models.CharField(max_length=500)
    size_bytes = models.BigIntegerField()
    rows = models.BigIntegerField()
    objects_count = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.path} of {self.taken_at:%Y-%m-%d}"


class DoctorReport(models.Model):
    """What serve found last: how many anomalies, for the frame of every page, and what of its settings; one row."""

    anomalies = models.PositiveIntegerField()
    evaluated_at = models.DateTimeField()
    of_settings = models.JSONField(default=list, encoder=DjangoJSONEncoder)  # findings, as they stand on the wire

    def __str__(self) -> str:
        return f"{self.anomalies} anomalies"
