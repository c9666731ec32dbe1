# The tables of the console: preferences, sent forms, wrong passwords.

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SignInFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=150)),
                ("address", models.CharField(max_length=45)),
                ("failed_at", models.JSONField(default=list)),
                ("paused_until", models.DateTimeField(null=True)),
                ("updated_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("name", "address"), name="sign_in_failure_once")],
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("key", models.UUIDField(primary_key=True, serialize=False)),
                ("path", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField(db_index=True)),
                ("location", models.CharField(blank=True, default="", max_length=500)),
                ("message", models.CharField(blank=True, default="", max_length=500)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UserPreference",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "theme",
                    models.CharField(
                        choices=[("auto", "Automatic"), ("light", "Light"), ("dark", "Dark")],
                        default="auto",
                        max_length=8,
                    ),
                ),
                ("live", models.BooleanField(default=True)),
                ("single_keys", models.BooleanField(default=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="preference",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("theme__in", ["auto", "light", "dark"])), name="preference_theme_known"
                    )
                ],
            },
        ),
    ]
