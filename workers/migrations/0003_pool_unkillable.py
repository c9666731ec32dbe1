from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workers", "0002_pools")]

    operations = [migrations.AddField("pool", "unkillable", models.JSONField(default=list))]
