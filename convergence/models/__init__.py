"""The tables of convergence, one subject a file."""

from convergence.models.escalation import Escalation, EscalationState
from convergence.models.flow import ConvergenceFlow
from convergence.models.forge import ForgeBudget, ForgeCache, ForgeCredential, ForgeTeam
from convergence.models.pull_request import PullRequest, PullRequestGeneration
from convergence.models.repository import Repository, RepositoryAlias
from convergence.models.reviews import HeadSeen, ReviewerStatus, ReviewRequest, ReviewSeen
from convergence.models.rounds import GateCheck, Round, RoundStatus, RoundTurn
from convergence.models.snapshot import ForgeSnapshot

__all__ = [
    "ConvergenceFlow",
    "Escalation",
    "EscalationState",
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
]
