"""An agent of the data folder that only reads a log: its definition and schemas, as files would state them."""

READER = {
    "id": "log-reader",
    "version": 1,
    "title": "Log reader",
    "summary": "Reads a log and says what kind of failure it is.",
    "kind": "event",
    "prompt": "log-reader.md",
    "input": "log-reader.input.json",
    "output": "log-reader.output.json",
    "outputContract": "site.log-reader/v1",
    "limits": {"timeoutSeconds": 600, "maxAttempts": 2, "maxEnvironmentRetries": 3},
}
INPUT = {"type": "object", "required": ["log"], "properties": {"log": {"type": "string"}}}
OUTPUT = {"type": "object", "required": ["verdict"], "properties": {"verdict": {"type": "string"}}}
