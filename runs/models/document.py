"""Documents addressed by their hash, and what points at them: definitions and prompts."""

from __future__ import annotations

from django.db import models


class DocumentKind(models.TextChoices):
    """What the bytes of a document are."""

    DEFINITION = "definition", "Definition"
    PROMPT = "prompt", "Prompt"
    SCHEMA = "schema", "Schema"
    SKILL = "skill", "Skill"
    COMMAND = "command", "Command"
    SUBAGENT = "subagent", "Subagent"


class PromptSource(models.TextChoices):
    """Where a version of a prompt was written."""

    FILE = "file", "File"
    CONSOLE = "console", "Console"


class Document(models.Model):
    """Bytes under their hash (``sha256:`` + 64 hex); never changed once stored."""

    hash = models.CharField(max_length=71, primary_key=True)
    kind = models.CharField(max_length=16, choices=DocumentKind)
    content = models.BinaryField()
    size_bytes = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.kind} {self.hash}"

    @property
    def text(self) -> str:
        """The bytes as UTF-8 text."""
        return bytes(self.content).decode()


class Definition(models.Model):
    """One content of an agent definition. Several may share a ref; at most one of them is current."""

    def_hash = models.CharField(max_length=71, unique=True)
    ref = models.CharField(max_length=80)
    agent_id = models.CharField(max_length=63)
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=16)
    title = models.CharField(max_length=200)
    summary = models.CharField(max_length=500)
    adapter = models.CharField(max_length=40)
    prompt_binding = models.CharField(max_length=16)
    prompt_name = models.CharField(max_length=120, blank=True)
    output_contract = models.CharField(max_length=120)
    mutating = models.BooleanField()
    layer = models.CharField(max_length=16)
    is_current = models.BooleanField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ref"], condition=models.Q(is_current=True), name="definition_current"),
        ]
        indexes = [models.Index(fields=["agent_id", "-version"], name="definition_agent")]

    def __str__(self) -> str:
        return self.ref


class Prompt(models.Model):
    """The name of a prompt and the version that is live. ``file_hash``: what the file held at the last sync."""

    name = models.CharField(max_length=120, primary_key=True)
    current_hash = models.CharField(max_length=71)
    file_hash = models.CharField(max_length=71, blank=True)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class PromptVersion(models.Model):
    """One time that a content of a prompt was made live, by whom and from where."""

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="versions", db_index=False)
    hash = models.CharField(max_length=71)
    actor = models.CharField(max_length=200)
    source = models.CharField(max_length=16, choices=PromptSource)
    note = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["prompt", "-id"], name="prompt_version_newest")]

    def __str__(self) -> str:
        return f"{self.prompt_id} {self.hash}"
