"""The launcher of the services, by its exit codes and by what it starts."""

import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LAUNCHER = PROJECT / "factory_site" / "units" / "factory-launch"
# Instead of the checkout's Python: runs what it is given on stdin, and tells what it was started with otherwise.
REAL = f'#!/bin/sh\n[ "$1" = -I ] && exec {sys.executable} "$@"\necho "$FACTORY_HOME|$PWD|$*|$(umask)"\n'
# The same with a clock that stands still but for the pauses, so that two minutes pass at once.
CLOCK = (
    "import sys, time; now = [0.0]; time.monotonic = lambda: now[0];"
    "time.sleep = lambda s: now.__setitem__(0, now[0] + s); sys.argv = ['-', *sys.argv[1:]]; exec(sys.stdin.read())"
)
HASTY = f'#!/bin/sh\nshift 2\nexec {sys.executable} -c "{CLOCK}" "$@"\n'


class Home:
    """A person's home with a checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "factory"
        self.python = self.root / ".venv" / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        (self.root / "manage.py").write_text("")
        self.runs(REAL)

    def runs(self, script: str) -> None:
        self.python.write_text(script)
        self.python.chmod(0o755)

    def write(self, name: str, text: str, mode: int = 0o600) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def launch(self, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
        environment = {"HOME": str(self.folder), "PATH": f"{path}{os.environ['PATH']}"}
        return subprocess.run(
            ["/bin/sh", str(LAUNCHER), *words],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


class Health(http.server.BaseHTTPRequestHandler):
    """Refuses twice before it is well."""

    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200 if len(self.asked) > 2 else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_serve_is_started_in_its_checkout_with_its_data_folder_and_a_private_umask(home: Home) -> None:
    done = home.launch("serve")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"{home.root}/var|{home.root}|manage.py serve|0077"


def test_the_pool_waits_for_the_control_plane_and_for_nothing_else(home: Home) -> None:
    Health.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    data = home.folder / "data"
    lines = ("# mine", f"export PORT = '{server.server_port}' ", f"GITHUB_TOKEN=$(touch {data}/pwned)")
    home.write("data/settings.env", "\n".join(lines) + "\n")
    home.write(".config/factory/launch.env", f"FACTORY_HOME={data}\n")
    try:
        done = home.launch("pool", "1:2")
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{data}|{home.root}|manage.py supervise --workers 1:2|0077"
    assert Health.asked == ["/health"] * 3
    assert not (data / "pwned").exists()


def test_an_authority_of_ones_own_counts_for_the_wait_too(home: Home) -> None:
    home.write("factory/var/settings.env", "REQUESTS_CA_BUNDLE=/etc/our authority.pem\n")
    home.runs('#!/bin/sh\n[ "$1" = -I ] || exit 0\necho "$SSL_CERT_FILE" >&2\ncat >/dev/null\n')
    done = home.launch("pool", "1:2")
    assert (done.returncode, done.stderr) == (0, "/etc/our authority.pem\n")
    home.write("factory/var/settings.env", "")
    assert home.launch("pool", "1:2").stderr == "\n"


def test_a_control_plane_that_does_not_answer_for_two_minutes_is_75(home: Home) -> None:
    home.write("factory/var/settings.env", "FACTORY_BASE_URL=http://127.0.0.1:9/\n")
    home.runs(HASTY)
    done = home.launch("pool", "1:2")
    assert done.returncode == 75
    assert "http://127.0.0.1:9/health did not answer for 120 s" in done.stderr


@pytest.mark.parametrize(
    "words",
    [(), ("run",), ("serve", "now"), ("pool",), ("pool", "1:2", "3"), ("pool", "a"), ("pool", "1:"), ("pool", "")],
)
def test_a_wrong_call_is_64(home: Home, words: tuple[str, ...]) -> None:
    done = home.launch(*words)
    assert done.returncode == 64
    assert "usage: factory-launch serve" in done.stderr


def test_what_is_missing_is_named(home: Home) -> None:
    home.python.unlink()
    assert (home.launch("serve").returncode, home.launch("serve").stderr.count("\n")) == (69, 1)
    home.write(".config/factory/launch.env", "FACTORY_ROOT=/nowhere\n")
    done = home.launch("serve")
    assert done.returncode == 66
    assert "there is no checkout at /nowhere" in done.stderr


@pytest.mark.parametrize("name", [".config/factory/launch.env", "factory/var/settings.env"])
def test_settings_that_others_can_read_are_78(home: Home, name: str) -> None:
    home.write(name, "", mode=0o644)
    done = home.launch("serve")
    assert done.returncode == 78
    assert f"chmod 600 {home.folder / name}" in done.stderr


def test_on_a_mac_the_output_is_appended_to_a_log(home: Home) -> None:
    home.write("bin/uname", "#!/bin/sh\necho Darwin\n", mode=0o755)
    for _ in range(2):
        assert home.launch("serve", path=f"{home.folder}/bin:").returncode == 0
    log = home.folder / "Library" / "Logs" / "factory" / "serve.log"
    assert log.read_text().count("manage.py serve") == 2
    assert log.stat().st_mode & 0o077 == 0
