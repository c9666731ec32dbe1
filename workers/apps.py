"""Registration of the app with Django, and of what the kernel asks it."""

from django.apps import AppConfig


class WorkersConfig(AppConfig):
    """Worker registry, worker protocol and pool."""

    name = "workers"

    def ready(self) -> None:
        """Tell the kernel where live workers are known, and have rows of long-gone ones removed every hour."""
        from runs.periodic import register_pass
        from runs.queue.waiting import register_capacity
        from workers.capacity import capacities
        from workers.services.pools import pools_forget
        from workers.services.registry import workers_forget

        register_capacity(capacities)
        register_pass("workers", seconds=3600.0, body=workers_forget)
        register_pass("pools", seconds=3600.0, body=pools_forget)
