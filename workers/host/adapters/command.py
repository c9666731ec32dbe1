"""The ``command`` adapter: an argv of the definition (closed form) or of the worker, the job on stdin."""

import json
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from workers.host.adapters.contract import AdapterUnavailable, Outcome, Request, RunRefused, Usage
from workers.host.process.launcher import CONSOLE, SpawnFailed
from workers.host.process.streams import ERROR_TAIL, readable

NAME = "command"
SANDBOX_SUPPORT = ("bwrap", "gondolin")
USAGE_PREFIX = "::factory:usage:: "
PLACEHOLDER = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
JOINED_SECONDS = 1.0  # stdout lines of one second become one trace row
TEXT_CHARACTERS = 4000
CAPTURED = "stdout.log"


def execute(request: Request) -> Outcome:
    """Run the program to its end; its stdout is the final text."""
    closed = request.definition.get("command")
    argv = resolve(closed, request.variables) if closed else request.command
    if not argv:
        raise RunRefused("command_unresolved", "the definition has no command and the worker was given none")
    lines = StdoutLines(request)
    try:
        ended = request.launch(
            argv,
            env=request.environment,
            cwd=request.paths.work,
            stdin=request.job,
            on_line=lines.take,
            stdout_log=CAPTURED if request.definition.get("captureStdout") else CONSOLE,
        )
    except SpawnFailed as error:
        if error.missing:
            raise AdapterUnavailable("cli_missing", f"{argv[0]} was not found; install it or name another") from error
        raise
    lines.flush()
    return Outcome(
        exit_code=ended.exit_code,
        signal=ended.signal,
        final_text=ended.stdout_tail,
        error_tail=readable(ended.stderr_tail or ended.stdout_tail),
        usage=lines.usage,
        derived=_derived(request, list(argv), ended.exit_code, ended.stdout_tail) if closed else None,
        captured=_captured(request),
    )


def resolve(template: list[str], variables: Mapping[str, Any]) -> tuple[str, ...]:
    """The argv of a closed form; ``RunRefused`` (``command_unresolved``) if a placeholder has no fit value."""
    argv = [str(template[0])]
    if PLACEHOLDER.search(argv[0]):
        raise RunRefused("command_unresolved", "a placeholder cannot be the program")
    for word in template[1:]:
        match = PLACEHOLDER.fullmatch(str(word))
        argv.append(_value(match["name"], variables) if match else str(word))
    return tuple(argv)


def _value(name: str, variables: Mapping[str, Any]) -> str:
    value = variables.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise RunRefused("command_unresolved", f"the input has no text or number {name}")
    text = str(value)
    if text.startswith("-") or "\0" in text:
        raise RunRefused("command_unresolved", f"the value of {name} begins with a hyphen")
    return text


def _derived(request: Request, argv: list[str], exit_code: int | None, text: str) -> dict[str, Any]:
    result: dict[str, Any] = {"command": argv, "exitCode": exit_code, "outputTail": text[-ERROR_TAIL:]}
    if request.definition.get("captureStdout"):
        result["captured"] = True
    return result


def _captured(request: Request) -> tuple[str, str] | None:
    wanted = request.definition.get("captureStdout")
    return (str(wanted["kind"]), CAPTURED) if wanted else None


class StdoutLines:
    """Stdout of a program as trace rows, and the usage that it reports about itself."""

    def __init__(self, request: Request) -> None:
        """``take`` is called by the thread that drains the pipe."""
        self._report = request.report
        self._joined: list[str] = []
        self._since = time.monotonic()
        self._lock = threading.Lock()
        self.usage = Usage()

    def take(self, line: str) -> None:
        """One redacted line."""
        if line.startswith(USAGE_PREFIX):
            reported = read_usage(line.removeprefix(USAGE_PREFIX))
            if reported is not None:
                self.usage = self.usage.grown(reported)
                self._report.usage(self.usage)
            return
        with self._lock:
            self._joined.append(line[:TEXT_CHARACTERS])
            due = time.monotonic() - self._since >= JOINED_SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Pass on what was joined."""
        with self._lock:
            text, self._joined, self._since = "\n".join(self._joined), [], time.monotonic()
        if text.strip():
            self._report.trace("assistant_text", {"text": readable(text, TEXT_CHARACTERS)})


def read_usage(text: str) -> Usage | None:
    """The totals in a usage line, None if it is malformed or a number is negative."""
    try:
        document = json.loads(text)
        usage = Usage(
            input_tokens=_count(document.get("inputTokens")),
            output_tokens=_count(document.get("outputTokens")),
            cache_read_tokens=_count(document.get("cacheReadTokens")),
            cache_write_tokens=_count(document.get("cacheWriteTokens")),
            cost_usd=None if document.get("costUsd") is None else float(document["costUsd"]),
        )
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return usage if usage.is_sound() else None


def _count(value: Any) -> int | None:
    return None if value is None else int(value)
