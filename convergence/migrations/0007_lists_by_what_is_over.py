from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("convergence", "0006_findings_memory_waivers"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="pullrequest",
            name="pull_request_state",
        ),
        migrations.AddField(
            model_name="pullrequest",
            name="is_over",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(state__in=["converged", "merged", "abandoned"], then=True), default=False
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="pullrequest",
            index=models.Index(fields=["state", "-updated_at", "-id"], name="pull_request_state"),
        ),
        migrations.AddIndex(
            model_name="pullrequest",
            index=models.Index(fields=["is_over", "-updated_at", "-id"], name="pull_request_over"),
        ),
        migrations.AddIndex(
            model_name="pullrequest",
            index=models.Index(fields=["-updated_at", "-id"], name="pull_request_newest"),
        ),
    ]
