"""A run in the queue, made through the kernel's own service."""

import itertools
from typing import Any

from runs.clock import now
from runs.contract.canonical import bytes_hash, canonical_bytes, document_hash
from runs.models import Definition, Document, Prompt, Run
from runs.queue.enqueue import run_enqueue

INPUT_SCHEMA = {"type": "object"}
OUTPUT_SCHEMA = {"type": "object", "required": ["verdict"], "properties": {"verdict": {"type": "string"}}}
PROMPT = "Say what you found.\n"
CONTRACT = "test.echo/v1"
_numbers = itertools.count(1)


def store(kind: str, content: bytes) -> str:
    found = bytes_hash(content)
    values = {"kind": kind, "content": content, "size_bytes": len(content), "created_at": now()}
    Document.objects.get_or_create(hash=found, defaults=values)
    return found


def definition() -> Definition:
    prompt_hash = store("prompt", PROMPT.encode())
    document = {
        "schemaVersion": "factory.agent-definition/v1",
        "id": "echo",
        "version": 1,
        "prompt": {"name": "echo.md"},
        "input": store("schema", canonical_bytes(INPUT_SCHEMA)),
        "output": store("schema", canonical_bytes(OUTPUT_SCHEMA)),
        "outputContract": CONTRACT,
    }
    def_hash = store("definition", canonical_bytes(document))
    Prompt.objects.get_or_create(name="echo.md", defaults={"current_hash": prompt_hash, "updated_at": now()})
    row, _ = Definition.objects.get_or_create(
        def_hash=def_hash,
        defaults={
            "ref": "echo@1",
            "agent_id": "echo",
            "version": 1,
            "kind": "flow",
            "title": "Echo",
            "summary": "Says it again.",
            "adapter": "any",
            "prompt_binding": "latest",
            "prompt_name": "echo.md",
            "output_contract": CONTRACT,
            "mutating": False,
            "layer": "fixtures",
            "is_current": True,
            "created_at": now(),
        },
    )
    return row


def queued_run(**changes: Any) -> Run:
    """One ready run that an ordinary worker may take."""
    number = next(_numbers)
    given: dict[str, Any] = {"n": number}
    spec: dict[str, Any] = {
        "schemaVersion": "factory.run-spec/v1",
        "agent": "echo@1",
        "defHash": definition().def_hash,
        "promptBinding": "latest",
        "input": given,
        "inputHash": document_hash(given),
        "subject": "repository:8412077",
        "flow": {"type": "test", "subject": "repository:8412077", "generation": 1, "step": "echo", "entry": number},
        "origin": {"kind": "flow"},
        "correlationId": f"test:{number}",
        "adapter": "any",
        "workspace": {"kind": "ephemeral"},
        "timeoutSeconds": 600,
        "outputContract": CONTRACT,
        "idempotencyKey": f"flow:test:repository:8412077:g1:echo:{number}",
        **changes,
    }
    return run_enqueue(spec=spec, actor="flow:test:repository:8412077").run
