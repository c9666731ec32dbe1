"""The tables of merging, one subject a file."""

from merging.models.attempt import MergeAttempt
from merging.models.flow import MergeFlow, OwnHead

__all__ = ["MergeAttempt", "MergeFlow", "OwnHead"]
