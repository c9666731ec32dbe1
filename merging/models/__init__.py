"""The tables of merging, one subject a file."""

from merging.models.attempt import MergeAttempt
from merging.models.dependency import Dependency
from merging.models.flow import MergeFlow, OwnHead
from merging.models.protocol import MergeProtocol

__all__ = ["Dependency", "MergeAttempt", "MergeFlow", "MergeProtocol", "OwnHead"]
