"""The agent of the storm: `agent.py FOLDER`. It works, fails, leaves a child behind, as its input says."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """Work for `seconds`, write the attempt into the result, and end with `exit`."""
    job = json.loads(Path(os.environ["AGENT_INPUT_FILE"]).read_text(encoding="utf-8"))["variables"]
    if job["orphan"]:
        argv = [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]]
        subprocess.Popen(argv, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    sys.stdout.write("x" * job["chatter"] + "\n")
    time.sleep(job["seconds"])
    if job["exit"]:
        return int(job["exit"])
    answer = {"attempt": os.environ["FACTORY_ATTEMPT"], "key": job["key"]}
    Path(os.environ["AGENT_RESULT_FILE"]).write_text(json.dumps(answer), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
