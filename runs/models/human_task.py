"""A question to a person, with a typed form."""

from typing import ClassVar

from django.db import models

from runs.humans.flow import ENDED_WITH_ANSWER, TASK_MACHINE, TaskState

ANSWERED_ONCE = [*ENDED_WITH_ANSWER, TaskState.REVERTED]


class HumanTask(models.Model):
    """One question that one person answers once. `refs` says which row asked; `seen_hash` is what it looks like.

    `history` holds what people did beside answering it, oldest first: what, by whom, when, with which note.
    """

    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    subject_label = models.CharField(max_length=250)
    subject_hash = models.CharField(max_length=71, default="", blank=True)
    question = models.CharField(max_length=280)
    context = models.TextField(default="", blank=True)
    form = models.JSONField(default=dict)
    seen_hash = models.CharField(max_length=71)
    state = models.CharField(max_length=16, choices=TASK_MACHINE.choices(), default=TaskState.OPEN)
    refs = models.JSONField(default=dict)
    dedupe_key = models.CharField(max_length=71)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    reminded_at = models.DateTimeField(null=True)
    reminder_count = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField(null=True)
    answered_by = models.CharField(max_length=200, default="", blank=True)
    answered_by_kind = models.CharField(max_length=16, default="", blank=True)
    answered_seen = models.CharField(max_length=71, default="", blank=True)
    variables = models.JSONField(default=dict)
    effect = models.CharField(max_length=64, default="", blank=True)
    effect_state = models.CharField(max_length=16, default="none")
    effect_error = models.CharField(max_length=500, default="", blank=True)
    history = models.JSONField(default=list)
    replaces = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="replaced_by")
    closed_at = models.DateTimeField(null=True)
    closed_reason = models.CharField(max_length=200, default="", blank=True)
    taken_by = models.CharField(max_length=200, default="", blank=True)
    taken_until = models.DateTimeField(null=True)  # a take is a word to others and fades by itself
    snoozed_until = models.DateTimeField(null=True)
    reverted_at = models.DateTimeField(null=True)
    reverted_by = models.CharField(max_length=200, default="", blank=True)
    revert_note = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(state__in=TASK_MACHINE.values), name="task_state_known"),
            models.CheckConstraint(condition=~models.Q(question=""), name="task_question_not_blank"),
            models.CheckConstraint(
                condition=models.Q(state__in=ANSWERED_ONCE, answered_at__isnull=False)
                | (~models.Q(state__in=ANSWERED_ONCE) & models.Q(answered_at__isnull=True)),
                name="task_answer_has_instant",
            ),
            models.CheckConstraint(
                condition=models.Q(state=TaskState.REVERTED, reverted_at__isnull=False)
                | (~models.Q(state=TaskState.REVERTED) & models.Q(reverted_at__isnull=True)),
                name="task_revert_has_instant",
            ),
            models.UniqueConstraint(
                fields=["dedupe_key"], condition=models.Q(state=TaskState.OPEN), name="task_asked_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=models.Q(state=TaskState.OPEN), name="task_due"),
            models.Index(fields=["state", "-id"], name="task_state"),
            models.Index(fields=["subject", "-id"], name="task_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_label}: {self.question[:60]}"
