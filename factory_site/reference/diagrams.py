"""Documents of the state machines, generated from their tables."""

from __future__ import annotations

from convergence.flow import CONVERGENCE_MACHINE
from merging.flow import MERGE_MACHINE
from runs.flow import RUN_MACHINE
from runs.humans.flow import TASK_MACHINE
from runs.machine import Machine, mermaid, table_rows

MACHINES = (RUN_MACHINE, TASK_MACHINE, CONVERGENCE_MACHINE, MERGE_MACHINE)
COLUMNS = {
    "edge": "edge",
    "from": "from",
    "to": "to",
    "event": "event",
    "guards": "when",
    "who": "who",
    "reason": "asks",
}


def diagram_documents() -> dict[str, str]:
    """``{file name: text}``, one document a machine."""
    return {f"{machine.name}.md": _document(machine) for machine in MACHINES}


def _document(machine: Machine) -> str:
    lines = [
        f"# The machine `{machine.name}`",
        "",
        "Generated from its table by `manage.py flows --write`; within a state the first row that holds wins.",
        "",
        "```mermaid",
        mermaid(machine).rstrip(),
        "```",
        "",
        "| " + " | ".join(COLUMNS.values()) + " |",
        "|" + "---|" * len(COLUMNS),
    ]
    lines += ["| " + " | ".join(row[key] or " " for key in COLUMNS) + " |" for row in table_rows(machine)]
    return "\n".join(lines) + "\n"
