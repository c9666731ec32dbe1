"""The convergence flow's row."""

from typing import ClassVar, cast

from django.db import models

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models.escalation import Escalation
from convergence.models.pull_request import PullRequest
from runs.machine import Machine
from runs.models.flow_row import FlowRow, flow_constraints, flow_indexes


class ConvergenceFlow(FlowRow):
    """One submission on its way to convergence, with its counters."""

    machine: ClassVar[Machine] = CONVERGENCE_MACHINE

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="convergence_flows")
    round = models.PositiveSmallIntegerField(default=1)
    turn = models.PositiveSmallIntegerField(default=0)
    max_rounds = models.PositiveSmallIntegerField()
    husk_retries = models.PositiveSmallIntegerField(default=0)
    ack_retries = models.PositiveSmallIntegerField(default=0)
    ack_retry_max = models.PositiveSmallIntegerField(default=2)
    relooks = models.PositiveSmallIntegerField(default=0)  # re-looks used in this state for want of facts
    waiting_since = models.DateTimeField(null=True)
    waiting_head = models.CharField(max_length=40, default="", blank=True)
    stale = models.BooleanField(default=False)
    gate_head = models.CharField(max_length=40, default="", blank=True)
    run_id = models.CharField(max_length=32, default="", blank=True)  # run of the present step
    answer = models.TextField(default="", blank=True)  # for the next turn only
    answer_question = models.TextField(default="", blank=True)
    answer_from = models.ForeignKey(Escalation, null=True, on_delete=models.SET_NULL, related_name="+")
    scope_ruling = models.ForeignKey(Escalation, null=True, on_delete=models.SET_NULL, related_name="+")
    gate_left = models.JSONField(default=dict, blank=True)  # what the gate left to acknowledge, for the next turn only
    churn_round = models.PositiveSmallIntegerField(default=0)  # round in which a person was last asked about it

    class Meta:
        constraints: ClassVar = [
            *flow_constraints(CONVERGENCE_MACHINE, "convergence"),
            models.CheckConstraint(condition=models.Q(round__gte=1), name="convergence_round_from_one"),
            models.CheckConstraint(condition=models.Q(max_rounds__range=(1, 100)), name="convergence_max_rounds"),
        ]
        indexes: ClassVar = [
            *flow_indexes("convergence"),
            models.Index(fields=["run_id"], name="convergence_run"),
        ]

    @classmethod
    def rows(cls) -> "models.QuerySet[ConvergenceFlow]":
        """All rows, typed as what they are; the base's manager knows only the base."""
        return cast("models.QuerySet[ConvergenceFlow]", cls.objects.all())
