# How many anomalies the last evaluation found.

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("factory_site", "0001_console"),
    ]

    operations = [
        migrations.CreateModel(
            name="DoctorReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("anomalies", models.PositiveIntegerField()),
                ("evaluated_at", models.DateTimeField()),
            ],
        ),
    ]
