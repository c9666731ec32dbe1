"""The turn to write, between processes."""

import signal
import subprocess
import sys
import threading

from runs.turns import SUFFIX, write_turn

HOLDER = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


def test_a_turn_that_another_process_holds_is_free_when_that_process_is_killed(tmp_path):
    database = str(tmp_path / "rows.sqlite3")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, database + SUFFIX], stdout=subprocess.PIPE, text=True)
    written = threading.Event()

    def write():
        with write_turn(database):
            written.set()

    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        writer = threading.Thread(target=write)
        writer.start()
        assert not written.wait(0.3)
        holder.send_signal(signal.SIGKILL)
        writer.join(20)
        assert written.is_set()
    finally:
        holder.kill()
        holder.communicate()


def test_the_turn_may_be_taken_again_by_whoever_has_it(tmp_path):
    database = str(tmp_path / "rows.sqlite3")
    with write_turn(database), write_turn(database):
        pass
    with write_turn(database):
        pass
