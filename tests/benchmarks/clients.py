"""Several clients at once, each a process: started, let go together, and how many pairs a second they made."""

import json
import subprocess
import sys
from collections.abc import Sequence


def pairs_a_second(argvs: Sequence[Sequence[str]], pairs: int) -> float:
    """Start a module with each argv and ``pairs`` behind it; from the first begin to the last end of any of them."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *argv, str(pairs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for argv in argvs
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    spans: list[tuple[float, float]] = [json.loads(process.communicate()[0]) for process in processes]
    return len(processes) * float(pairs) / (max(ended for _, ended in spans) - min(begun for begun, _ in spans))
