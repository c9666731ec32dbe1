"""The ``fake`` adapter, for tests and demos: the outcome is named by ``variables.fake.outcome``."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workers.host.adapters.contract import UNSUPPORTED, Outcome, Request, RunRefused, Usage
from workers.host.process.streams import readable

NAME = "fake"
SANDBOX_SUPPORT = UNSUPPORTED
SCRIPT = Path(__file__).with_name("fake_agent.py")
INSIDE = frozenset({"ok", "refuse", "needs_human"})
BY_PROCESS = frozenset(
    {
        "late", "no_result", "invalid_json", "invalid_artifact", "wrong_nonce", "old_path", "link", "stdout_line",
        "fenced_block", "crash", "signal", "hang", "ignore_term", "grandchild", "daemon", "flood", "long_line",
        "bad_utf8", "nul", "secret", "commit", "push", "dirty", "escape",
    }
)  # fmt: skip
USAGE = Usage(input_tokens=1000, output_tokens=100, cost_usd=0.01)
FULL_FORM = "factory.agent-result/v1"


def execute(request: Request) -> Outcome:
    """Answer inside the worker, or start the packaged script."""
    options = request.variables.get("fake") or {}
    outcome = str(options.get("outcome", "ok"))
    usage = _usage(options.get("usage"))
    if outcome in INSIDE:
        request.report.usage(usage)
        return Outcome(exit_code=0, usage=usage, given=json.dumps(_answer(outcome, options)).encode())
    if outcome not in BY_PROCESS:
        raise RunRefused("unsupported_spec", f"the fake adapter of this version knows no outcome {outcome}")
    ended = request.launch(
        [sys.executable, "-I", str(SCRIPT), outcome],
        env=request.environment,
        cwd=request.paths.work,
        stdin=request.job,
        stdout_log="transcript.jsonl",
        grace=float(options.get("graceSeconds", 10)),
    )
    request.report.usage(usage)
    return Outcome(
        exit_code=ended.exit_code,
        signal=ended.signal,
        final_text=ended.stdout_tail,
        error_tail=readable(ended.stderr_tail),
        usage=usage,
    )


def _answer(outcome: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if outcome == "ok":
        return {"schemaVersion": FULL_FORM, "terminalState": "completed", "artifact": options.get("artifact", {})}
    answer: dict[str, Any] = {"schemaVersion": FULL_FORM, "terminalState": "refused", "artifact": None}
    if outcome == "refuse":
        return {**answer, "reasonCode": "missing_input"}
    options_offered = [
        {"id": "yes", "label": "Yes", "effect": "rerun_with_answer"},
        {"id": "no", "label": "No", "effect": "rerun_with_answer"},
    ]
    question = {"schemaVersion": "factory.decision-request/v1", "question": "Go on?", "options": options_offered}
    return {**answer, "reasonCode": "needs_human", "decision": options.get("decision", question)}


def _usage(given: Mapping[str, Any] | None) -> Usage:
    if not given:
        return USAGE
    return Usage(
        input_tokens=given.get("inputTokens"),
        output_tokens=given.get("outputTokens"),
        cache_read_tokens=given.get("cacheReadTokens"),
        cache_write_tokens=given.get("cacheWriteTokens"),
        cost_usd=given.get("costUsd"),
    )
