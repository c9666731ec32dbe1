"""Registration of the app with Django."""

from django.apps import AppConfig


class FactorySiteConfig(AppConfig):
    """The commands that run the whole system."""

    name = "factory_site"

    def ready(self) -> None:
        """Say who makes commits, have the console forget what it keeps for a day, and look for anomalies."""
        from factory_site.authorship import own_author
        from factory_site.console.submissions import SWEEP_SECONDS, console_sweep
        from factory_site.doctor.report import EVALUATION_SECONDS
        from factory_site.doctor.serving import findings_stored
        from runs.periodic import register_pass
        from workers.authorship import register_author

        register_author(own_author)
        register_pass("console_sweep", seconds=SWEEP_SECONDS, body=console_sweep)
        register_pass("doctor", seconds=EVALUATION_SECONDS, body=findings_stored)
