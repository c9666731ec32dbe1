"""Two hosts with a data folder each share one PostgreSQL, one Redis and one store of objects; one of them dies."""

import json
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis
import requests

from tests.databases import fresh_database
from tests.process import static_files
from tests.process.system import PROJECT, Process, free_port, wait_for

RUNS = 10
AGENT = """
import sys, time
sys.stdin.read()
print("working on it", flush=True)
time.sleep(1)
print('::factory:result:: {"verdict": "FLAKE"}')
"""
needs_redis = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="redis-server is not installed: apt-get install redis-server"
)


class Host:
    """One machine: a control plane on a port of its own, and a worker that speaks to it."""

    def __init__(self, folder, name, shared):
        self.name = name
        self.folder = folder / name
        self.home = self.folder / "home"
        self.home.mkdir(parents=True, mode=0o700)
        (self.home / "secret.key").write_text(shared["key"])
        (self.home / "secret.key").chmod(0o600)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {**shared["variables"], "FACTORY_HOME": str(self.home), "PORT": str(self.port)}
        self.processes = []

    def serve(self):
        static_files.lend(self.home)
        argv = [sys.executable, "-u", "manage.py", "serve", "--port", str(self.port)]
        self.start(argv, "serve")

    def start(self, argv, name):
        self.processes.append(Process(argv, self.environment, self.folder / f"{name}.log"))

    def work(self):
        agent = self.folder / "agent.py"
        agent.write_text(AGENT)
        argv = [sys.executable, "-u", "manage.py", "work", "--url", self.url, "--isolation", "none"]
        argv += ["--credential-file", str(self.home / "secrets" / "worker.json")]
        argv += ["--worker-home", str(self.folder / "worker"), "--command", shlex.join([sys.executable, str(agent)])]
        self.start(argv, "worker")

    def is_up(self):
        try:
            return requests.get(f"{self.url}/health", timeout=5).ok
        except requests.RequestException:
            return False

    def manage(self, *argv):
        done = subprocess.run(
            [sys.executable, "manage.py", *argv],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def logs(self):
        return "\n".join(process.text() for process in self.processes)

    def dies(self):
        """As when its power fails."""
        for process in self.processes:
            process.kill_tree()
            process.close()
        self.processes.clear()

    def end(self):
        for process in reversed(self.processes):
            process.end()


@pytest.fixture(scope="module")
def wakeups(tmp_path_factory):
    """A Redis of this test's own; its address."""
    folder = tmp_path_factory.mktemp("redis")
    port = free_port()
    argv = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = Process(argv, {"PATH": "/usr/bin:/bin"}, folder / "log")
    client = redis.Redis(port=port)

    def answers():
        try:
            return client.ping()
        except redis.ConnectionError:
            return False

    wait_for("answer of Redis", answers)
    yield client, f"redis://127.0.0.1:{port}/0"
    client.close()
    server.end()


@pytest.fixture
def hosts(tmp_path, wakeups):
    shared = {
        "key": secrets.token_urlsafe(50),
        "variables": {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            **fresh_database(),
            "REDIS_URL": wakeups[1],
            "FACTORY_ARTIFACTS_URL": f"file://{tmp_path}/objects",
            "FACTORY_LIVENESS_SECONDS": "6",
            "FACTORY_HEARTBEAT_SECONDS": "2",
            "FACTORY_REAPER_SECONDS": "1",
        },
    }
    made = [Host(tmp_path, name, shared) for name in ("east", "west")]
    yield made
    for host in made:
        host.end()


def queue_runs(host, count):
    environment = {**host.environment, "DJANGO_SETTINGS_MODULE": "factory_site.settings"}
    argv = [sys.executable, "-m", "tests.process.postgres.queue_runs", str(count)]
    done = subprocess.run(argv, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_redis
def test_a_host_that_dies_leaves_its_runs_to_the_other_and_every_run_ends_once(hosts, wakeups):
    """Both start at once on an empty database; what one stored the other reads."""
    east, west = hosts
    for host in hosts:
        host.serve()
    for host in hosts:
        wait_for(f"answer of {host.name}", host.is_up)
    east.manage("credentials", "issue", "east", "--output", str(east.home / "secrets" / "worker.json"))
    east.manage("credentials", "issue", "west", "--output", str(west.home / "secrets" / "worker.json"))
    admin = [json.loads(path.read_text()) for host in hosts for path in host.home.glob("admin.json")]
    assert len(admin) == 1, "one of the two made the first admin"

    def get(host, path):
        answer = requests.get(host.url + path, headers={"Authorization": f"Bearer {admin[0]['token']}"}, timeout=15)
        assert answer.ok, answer.text
        return answer

    def completed(host, node=None):
        items = get(host, "/api/v1/runs?state=completed&limit=200").json()["items"]
        return [item for item in items if node in {None, item["node"]}]

    def in_hand(host):
        items = get(west, "/api/v1/runs?state=running").json()["items"]
        return [item for item in items if item["node"] == host.name]

    for host in hosts:
        host.work()
    queue_runs(east, RUNS)
    wait_for("runs that both completed", lambda: completed(west, "east") and completed(west, "west"))
    by_east = completed(west, "east")[0]["runId"]
    wait_for("a run in hand of the east", lambda: in_hand(east))
    east.dies()
    wait_for("the end of every run", lambda: len(completed(west)) == RUNS)

    with psycopg.connect(west.environment["DATABASE_URL"]) as session:
        counts = session.execute("SELECT count(*), count(DISTINCT run_id) FROM runs_result").fetchone()
        ends = session.execute("SELECT count(*) FROM runs_journalrow WHERE edge = 'complete'").fetchone()
        admins = session.execute("SELECT count(*) FROM runs_user").fetchone()
    assert (counts, ends, admins) == ((RUNS, RUNS), (RUNS,), (1,))
    assert "verifies" in west.manage("verify_journal")
    stored = get(west, f"/api/v1/artifacts?run={by_east}").json()["items"]
    assert stored, "the east stored something"
    assert len(get(west, f"/artifacts/{stored[0]['sha256']}").content) == stored[0]["sizeBytes"]
    assert wakeups[0].keys("huey.*"), "passes are woken through Redis"
    assert not (west.home / "huey.sqlite3").exists()
