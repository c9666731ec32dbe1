"""The tables of the kernel, one subject a file."""

from runs.models.api_token import ApiToken
from runs.models.artifact import Artifact, ArtifactGrant, ResultArtifact, RunInput
from runs.models.attempt import Attempt, AttemptOutcome, AttemptPhase
from runs.models.delivery import WebhookDelivery
from runs.models.document import Definition, Document, DocumentKind, Prompt, PromptSource, PromptVersion
from runs.models.human_task import HumanTask
from runs.models.journal import JournalKind, JournalRow
from runs.models.journal_check import JournalCheck
from runs.models.limits import BudgetRaise, Pause, PauseScope
from runs.models.outbox import Outbox
from runs.models.periodic import PeriodicTask
from runs.models.placement import PlacementClass
from runs.models.removed_run import RemovedRun
from runs.models.result import Receipt, Result
from runs.models.run import FailureCause, Hold, Run, RunSpec
from runs.models.trace import TraceRow
from runs.models.transition import TransitionLog
from runs.models.usage import CostSource, Spend, SpendScope, Usage
from runs.models.user import Role, User

__all__ = [
    "ApiToken",
    "Artifact",
    "ArtifactGrant",
    "Attempt",
    "AttemptOutcome",
    "AttemptPhase",
    "BudgetRaise",
    "CostSource",
    "Definition",
    "Document",
    "DocumentKind",
    "FailureCause",
    "Hold",
    "HumanTask",
    "JournalCheck",
    "JournalKind",
    "JournalRow",
    "Outbox",
    "Pause",
    "PauseScope",
    "PeriodicTask",
    "PlacementClass",
    "Prompt",
    "PromptSource",
    "PromptVersion",
    "Receipt",
    "RemovedRun",
    "Result",
    "ResultArtifact",
    "Role",
    "Run",
    "RunInput",
    "RunSpec",
    "Spend",
    "SpendScope",
    "TraceRow",
    "TransitionLog",
    "Usage",
    "User",
    "WebhookDelivery",
]
