"""Reads about workers and credentials for pages, the API and commands."""

from workers.selectors.credentials import CredentialRow, TokenRow, TokenState, credentials, token_state
from workers.selectors.workers import WorkerRow, live_workers, worker_counts, workers

__all__ = [
    "CredentialRow",
    "TokenRow",
    "TokenState",
    "WorkerRow",
    "credentials",
    "live_workers",
    "token_state",
    "worker_counts",
    "workers",
]
