"""The tables of convergence, one subject a file."""

from convergence.models.decided import Adjudication, Waiver, WaiverKind
from convergence.models.escalation import Escalation, EscalationState
from convergence.models.findings import Finding, FindingKind, FindingStatus, FindingTrend
from convergence.models.flow import ConvergenceFlow
from convergence.models.forge import ForgeBudget, ForgeCache, ForgeCredential, ForgeTeam
from convergence.models.pull_request import PullRequest, PullRequestGeneration
from convergence.models.repository import Repository, RepositoryAlias
from convergence.models.reviews import HeadSeen, ReviewerStatus, ReviewRequest, ReviewSeen
from convergence.models.rounds import GateCheck, Round, RoundStatus, RoundTurn
from convergence.models.snapshot import ForgeSnapshot

__all__ = [
    "Adjudication",
    "ConvergenceFlow",
    "Escalation",
    "EscalationState",
    "Finding",
    "FindingKind",
    "FindingStatus",
    "FindingTrend",
    "ForgeBudget",
    "ForgeCache",
    "ForgeCredential",
    "ForgeSnapshot",
    "ForgeTeam",
    "GateCheck",
    "HeadSeen",
    "PullRequest",
    "PullRequestGeneration",
    "Repository",
    "RepositoryAlias",
    "ReviewRequest",
    "ReviewSeen",
    "ReviewerStatus",
    "Round",
    "RoundStatus",
    "RoundTurn",
    "Waiver",
    "WaiverKind",
]
