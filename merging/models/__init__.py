"""The tables of merging, one subject a file."""

from merging.models.attempt import MergeAttempt
from merging.models.branch import OwnBranch
from merging.models.dependency import Dependency
from merging.models.flow import MergeFlow, OwnHead
from merging.models.hold import HoldKind, MergeHold
from merging.models.lane import LaneEdge, LaneGroup, LaneMember
from merging.models.protocol import MergeProtocol
from merging.models.remedy import MergeRemedy

__all__ = [
    "Dependency",
    "HoldKind",
    "LaneEdge",
    "LaneGroup",
    "LaneMember",
    "MergeAttempt",
    "MergeFlow",
    "MergeHold",
    "MergeProtocol",
    "MergeRemedy",
    "OwnBranch",
    "OwnHead",
]
