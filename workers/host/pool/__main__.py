"""``python -m workers.host.pool``: the pool of this machine. Exit 0 in order, 64 usage, 130 after a second signal."""

import sys
from collections.abc import Sequence
from pathlib import Path

from runs.contract.errors import FactoryError
from runs.contract.stamp import code_stamp
from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.client import Client
from workers.host.credential import CredentialFile, check_address, credential_path
from workers.host.disk.files import make_private
from workers.host.host_config import load_host_config, note_without_agent, with_agent
from workers.host.logs import log_to
from workers.host.offer import Offering
from workers.host.options import EXIT_USAGE
from workers.host.pool.bounds import read_policy_bounds
from workers.host.pool.dead import Dead
from workers.host.pool.options import PoolOptions, parse
from workers.host.pool.report import Reporter
from workers.host.pool.restart import Restart, listen, run_anew
from workers.host.pool.run_folder import RunFolder
from workers.host.pool.shutdown import Shutdown
from workers.host.pool.supervisor import Machine, Supervisor
from workers.host.process.only_one import hold_lock
from workers.host.settings import Settings, load_settings
from workers.host.signals import Signals

NAME = "supervisor"
LOG_FILE = "supervisor.log"


def main(argv: Sequence[str]) -> int:
    """The exit code; a person's mistake is one line on stderr."""
    try:
        options = parse(argv)
        settings = load_settings()
        supervisor, restart = build(options, settings)
    except FactoryError as error:
        sys.stderr.write(f"supervise: {error.message}\n")
        return EXIT_USAGE
    listen()
    return run(supervisor, restart)


def build(options: PoolOptions, settings: Settings) -> tuple[Supervisor, Restart]:
    """Everything that a supervisor is made of, and the lock of its run folder; ``FactoryError`` before it acts."""
    own = read_policy_bounds(settings.home, options.bounds)
    home = Path(options.worker.worker_home or settings.home / "worker").absolute()
    credentials = CredentialFile(credential_path(options.worker.credential_file, settings.home))
    url = check_address(options.worker.url or credentials.current.url or settings.base_url)
    version = code_stamp()
    config = load_host_config(home)
    worker = with_agent(options.worker, config)
    tokens = TokenSource(settings.forge_server_url, settings.environment)
    machine = Machine(settings, worker, config, make_private(home), AdapterRegistry(), tokens, version)
    offering = Offering(machine)
    folder = RunFolder(settings.home / "run")
    hold_lock(folder.path, NAME, node=credentials.current.node, pool=options.pool)
    log_to(credentials, "", file=folder.path / LOG_FILE, also_stderr=True)
    signals = Signals()
    restart = Restart(version, settings.home, options.bounds)
    signals.install(restart.ask)
    reporter = Reporter(Client(url, credentials, ""), offering, options.pool)
    note_without_agent(worker)
    offering.note_limits()
    return Supervisor(options, own, Dead(folder, home), reporter, signals), restart


def run(supervisor: Supervisor, restart: Restart) -> int:
    """Tick until a signal, then end the pool; with ``--once`` one tick, and the workers stay."""
    if supervisor.options.once:
        supervisor.tick()
        return 0
    while not supervisor.signals.count:
        if restart.is_due():
            run_anew()
        supervisor.tick()
        supervisor.pause()
    return Shutdown(supervisor).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
