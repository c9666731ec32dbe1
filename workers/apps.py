"""Registration of the app with Django, and of what the kernel asks it."""

from django.apps import AppConfig


class WorkersConfig(AppConfig):
    """Worker registry, worker protocol and pool."""

    name = "workers"

    def ready(self) -> None:
        """Tell the kernel where live workers are known."""
        from runs.queue.waiting import register_capacity
        from workers.capacity import capacities

        register_capacity(capacities)
