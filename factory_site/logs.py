"""One line a record on stderr: JSON for machines, columns for a person at a terminal."""

from __future__ import annotations

from typing import Any

import structlog


def logging_config(*, as_json: bool) -> dict[str, Any]:
    """Return Django's LOGGING, and let structlog's loggers write through the same handler."""
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    last: list[structlog.types.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer()]
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
            },
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "lines"},
            "nowhere": {"class": "logging.NullHandler"},
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        # Django's own handlers would write the same records a second time, in another form.
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # A request for another host is refused with 400; whoever sends it must not fill the log.
            "django.security.DisallowedHost": {"handlers": ["nowhere"], "level": "ERROR", "propagate": False},
            "huey": {"handlers": [], "level": "WARNING", "propagate": True},  # a line a beat says nothing
        },
    }
