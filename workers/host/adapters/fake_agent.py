"""The program behind the ``fake`` adapter: does what its one argument says. Standard library only."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOR_EVER = 86_400
FLOOD_BYTES = 1024**3
LONG_LINE_BYTES = 8 * 1024**2


def main(outcome: str) -> int:
    """Exit code of the outcome."""
    job = json.load(sys.stdin)
    options = job["variables"].get("fake") or {}
    result = Path(job["resultFile"])
    artifact = options.get("artifact", {})
    act = _acts(options, result, artifact)[outcome]
    return act() or 0


def _acts(options: dict[str, Any], result: Path, artifact: Any) -> dict[str, Callable[[], int | None]]:
    def give(content: Any = artifact) -> None:
        result.write_text(json.dumps(content))

    return {
        "late": lambda: _late(options, give),
        "no_result": lambda: None,
        "invalid_json": lambda: _write(result, "{"),
        "invalid_artifact": lambda: give([1]),
        "wrong_nonce": lambda: give({**artifact, "nonce": "0" * 32}),
        "old_path": lambda: _old_path(result, artifact),
        "link": lambda: _link(result, artifact),
        "stdout_line": lambda: _say("::factory:result:: " + json.dumps(artifact)),
        "fenced_block": lambda: _say("Done:\n```json\n" + json.dumps(artifact) + "\n```"),
        "crash": lambda: 3,
        "signal": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "hang": lambda: _hang(options),
        "ignore_term": lambda: _ignore_term(options),
        "grandchild": lambda: _leave(give, session=False),
        "daemon": lambda: _leave(give, session=True),
        "flood": lambda: _flood(options, give),
        "long_line": lambda: _raw(give, b"x" * LONG_LINE_BYTES + b"\n"),
        "bad_utf8": lambda: _raw(give, b"a \xff\xfe b\n"),
        "nul": lambda: _raw(give, b"a \0 b\n"),
        "secret": lambda: _secret(options, give),
        "commit": lambda: _commit(give),
        "push": lambda: _push(give),
        "dirty": lambda: _dirty(give),
        "escape": lambda: _escape(give),
    }


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _late(options: dict[str, Any], give: Callable[[], None]) -> None:
    # The result is there in time; the program does not end, so the deadline has to stop it.
    give()
    _hang(options)


def _old_path(result: Path, artifact: Any) -> None:
    target = result.parent.with_name("out-" + "0" * 32)
    target.mkdir()
    (target / result.name).write_text(json.dumps(artifact))


def _link(result: Path, artifact: Any) -> None:
    Path("elsewhere.json").write_text(json.dumps(artifact))
    result.symlink_to(Path("elsewhere.json").resolve())


def _hang(options: dict[str, Any]) -> None:
    _announce(options)
    time.sleep(FOR_EVER)


def _ignore_term(options: dict[str, Any]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _hang(options)


def _announce(options: dict[str, Any]) -> None:
    if options.get("announce"):
        Path(options["announce"]).write_text(str(os.getpid()))


def _leave(give: Callable[[], None], *, session: bool) -> None:
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOR_EVER})"], start_new_session=session)
    give()


def _flood(options: dict[str, Any], give: Callable[[], None]) -> None:
    block = (b"flood " * 170 + b"\n") * 64
    for _ in range(int(options.get("bytes", FLOOD_BYTES)) // len(block)):
        sys.stdout.buffer.write(block)
    give()


def _raw(give: Callable[[], None], content: bytes) -> None:
    sys.stdout.buffer.write(content)
    give()


def _secret(options: dict[str, Any], give: Callable[[], None]) -> None:
    for secret in options.get("secrets", []):
        _say(f"raw {secret}")
        middle = len(secret) // 2
        for part in (secret[:middle], secret[middle:] + "\n"):
            sys.stdout.write(part)
            sys.stdout.flush()
            sys.stderr.write(part)
            sys.stderr.flush()
    give()


def _commit(give: Callable[[], None]) -> None:
    _dirty(lambda: None)
    subprocess.run(["git", "add", "--all"], check=True)
    subprocess.run(["git", "commit", "--quiet", "-m", "Change by the fake agent"], check=True)
    give()


def _push(give: Callable[[], None]) -> int | None:
    _commit(lambda: None)
    done = subprocess.run(["git", "push", "--quiet", "origin", "HEAD"], check=False)
    give()
    return done.returncode


def _dirty(give: Callable[[], None]) -> None:
    Path("changed.txt").write_text(f"{time.time_ns()}\n")
    give()


def _escape(give: Callable[[], None]) -> None:
    Path(os.environ["AGENT_WORKSPACE"], "..", "escaped.txt").write_text("outside")
    give()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
