"""What `runs show` and `runs why` say of a run whose newest attempt ended badly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.selectors.failure import Failure, attempt_failure
from factory_site.console.selectors.run import run_acts
from factory_site.console.wording.words import marked
from runs.models import Attempt, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 12  # of one output: the first screen of a shell; the page and `runs trace` have the rest
WORDS = {"timed_out": "ran out of time", "refused": "was refused"}


def failure_lines(run: Run) -> list[str]:
    """How its newest attempt ended badly: first errors, end of the output, what to do; empty when it did not."""
    failure = attempt_failure(run, Attempt.objects.filter(run=run).order_by("-id").first())
    if failure is None:
        return []
    return [_headline(failure), *_errors(failure), *_tail(failure), *_next(run, failure)]


def rest_line(run: Run) -> str:
    """One sentence about a run at rest: how it ended, and which commands tell more or begin it again."""
    told = f"{run.run_id} is {_word(run.state)} ({run.reason_code}) and waits for nothing"
    retry = retry_command(run)
    return f"{told}; see: manage.py runs show {run.run_id}" + (f"; queue it again: {retry}" if retry else "")


def retry_command(run: Run) -> str:
    """The command that queues the run again; blank where none may."""
    acts = run_acts(run)
    if not acts.can_retry:
        return ""
    return f"manage.py runs retry {run.run_id}" + (f" --force ({acts.exhausted})" if acts.exhausted else "")


def _headline(failure: Failure) -> str:
    attempt = failure.attempt
    facts = [f"{failure.reason.sentence} ({failure.reason.code})", failure.used]
    facts += [f"exit code {attempt.exit_code}"] if attempt.exit_code is not None else []
    facts += [_one_line(failure.message)]
    return f"attempt {attempt.number} {WORDS.get(attempt.outcome, 'failed')}: {'; '.join(filter(None, facts))}"


def _errors(failure: Failure) -> list[str]:
    lines: list[str] = []
    for number, entry in enumerate(failure.errors):
        name = " ".join(filter(None, (_one_line(entry.name or entry.word), _one_line(entry.line))))
        lines += [f"{'then' if number else 'first error'}: {name}", *_quoted(entry.output.splitlines()[:MOST_LINES])]
    return lines


def _tail(failure: Failure) -> list[str]:
    lines = failure.tail.splitlines()[-MOST_LINES:]
    return ["the end of its output:", *_quoted(lines)] if lines else []


def _next(run: Run, failure: Failure) -> list[str]:
    """What to do by hand, then what the shell can do."""
    retry = retry_command(run)
    step = f"next: {failure.reason.step}" if failure.reason.step else ""
    again = f"queue it again: {retry}" if retry else ""
    return [line for line in (step, again) if line]


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"  | {_plain(line)}" for line in lines]


def _one_line(text: str) -> str:
    return _plain(" ".join(text.split()))


def _plain(text: str) -> str:
    """Text of an agent with the characters named that would steer a terminal."""
    return "".join(f"[{part}]" if is_mark else part for part, is_mark in marked(text))


def _word(state: str) -> str:
    return state.replace("_", " ")
