"""Registration of the app with Django."""

from django.apps import AppConfig

PRUNE_SECONDS = 3600.0
JOURNAL_SECONDS = 60.0  # between two slices of the check that goes through every journal once a day
REMINDERS_SECONDS = 60.0  # a reminder that is a minute late is none the worse
HOLDS_SECONDS = 15.0  # a missed clearing of a hold costs this and no more


class RunsConfig(AppConfig):
    """The kernel: queue, definitions, events, flows and the people who decide."""

    name = "runs"

    def ready(self) -> None:
        """Register the kernel's own consumer and passes."""
        from django.conf import settings

        from runs.flows.looks import effect_deliver, flows_pass
        from runs.flows.move import EFFECT_TOPIC
        from runs.humans.attention import reminders_pass
        from runs.humans.refused import REFUSED_KIND
        from runs.humans.tasks import register_kind
        from runs.outbox.dispatch import outbox_pass, register_consumer
        from runs.periodic import register_pass
        from runs.queue.attempts.reaper import reaper_pass
        from runs.queue.holds import holds_pass
        from runs.queue.journal_check import journal_check_pass
        from runs.queue.limits.upkeep import SECONDS as LIMITS_SECONDS
        from runs.queue.limits.upkeep import limits_pass
        from runs.queue.limits.warnings import KIND as BUDGET_WARNING
        from runs.retention.kernel import register_kernel_rules
        from runs.retention.prune import prune_pass

        register_kernel_rules()
        register_consumer(EFFECT_TOPIC, effect_deliver)
        register_kind(REFUSED_KIND)
        register_pass("outbox", seconds=1.0, body=outbox_pass)
        register_pass("flows", seconds=1.0, body=flows_pass)
        register_pass("reaper", seconds=settings.FACTORY.reaper_seconds, body=reaper_pass)
        register_pass("holds", seconds=HOLDS_SECONDS, body=holds_pass)
        register_pass("prune", seconds=PRUNE_SECONDS, body=prune_pass)
        register_pass("journal_check", seconds=JOURNAL_SECONDS, body=journal_check_pass)
        register_pass("limits", seconds=LIMITS_SECONDS, body=limits_pass)
        register_kind(BUDGET_WARNING)
        register_pass("reminders", seconds=REMINDERS_SECONDS, body=reminders_pass)
