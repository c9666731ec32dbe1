from django.core.serializers.json import DjangoJSONEncoder
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("factory_site", "0003_backup")]

    operations = [
        migrations.AddField("doctorreport", "of_settings", models.JSONField(default=list, encoder=DjangoJSONEncoder))
    ]
