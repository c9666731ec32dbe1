"""Registration of the app with Django."""

from django.apps import AppConfig


class FactorySiteConfig(AppConfig):
    """The commands that run the whole system."""

    name = "factory_site"

    def ready(self) -> None:
        """Say who makes commits, and have the console forget sent forms and wrong passwords after a day."""
        from factory_site.authorship import own_author
        from factory_site.console.submissions import SWEEP_SECONDS, console_sweep
        from runs.periodic import register_pass
        from workers.authorship import register_author

        register_author(own_author)
        register_pass("console_sweep", seconds=SWEEP_SECONDS, body=console_sweep)
