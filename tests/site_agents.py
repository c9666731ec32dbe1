"""An agent of the data folder that only reads, as an operator may start it by hand."""

import json

from runs.definitions.sync import SHIPPED, definitions_sync
from runs.queue.operating.start import run_start
from tests import queue_driver
from tests.reader_agent import INPUT, OUTPUT, READER


def load_reader(folder, **changes):
    """Write the agent's files below the folder, changed as told, and load them beside the shipped ones."""
    for name in ("agents", "prompts", "schemas"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "agents" / "log-reader.yaml").write_text(json.dumps({**READER, **changes}))
    (folder / "prompts" / "log-reader.md").write_text("Write to AGENT_RESULT_FILE.")
    (folder / "schemas" / "log-reader.input.json").write_text(json.dumps(INPUT))
    (folder / "schemas" / "log-reader.output.json").write_text(json.dumps(OUTPUT))
    definitions_sync(actor="operator:test@cli", folders=[("shipped", SHIPPED), ("site", folder)])


def started(**fields):
    """A run of the reader, as an operator starts it."""
    asked = {"agent": "log-reader@1", "variables": {"log": "boom"}, "actor": "operator:ann", **fields}
    return run_start(**asked).run


def read_body(attempt, **changes):
    """A completed submission of the reader."""
    body = queue_driver.completed_body(attempt, {"verdict": "FLAKE"})
    body["result"] |= {"outputContract": "site.log-reader/v1", **changes}
    return body
