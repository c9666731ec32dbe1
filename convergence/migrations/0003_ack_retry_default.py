"""A submission has a budget of two ack repeats unless something says otherwise."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("convergence", "0002_look_now")]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="convergenceflow",
            name="ack_retry_max",
            field=models.PositiveSmallIntegerField(default=2),
        ),
    ]
