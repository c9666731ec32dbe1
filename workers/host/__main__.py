"""``python -m workers.host``: one worker, HTTP only, no database. Exit 0 drained, 64 usage, 75 restart me."""

import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from runs.contract.errors import FactoryError, Refused
from runs.contract.ids import worker_id
from runs.contract.redactor import self_test
from runs.contract.stamp import code_stamp
from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.attempt.record import discard_kept, kept_lines
from workers.host.client import Client
from workers.host.credential import CredentialFile, check_address, credential_path
from workers.host.disk.boots import Boot
from workers.host.disk.documents import Documents
from workers.host.disk.files import make_private
from workers.host.disk.spool import purge_quarantine, quarantine_lines
from workers.host.host import Host
from workers.host.host_config import load_host_config, note_without_agent, with_agent
from workers.host.logs import log_to
from workers.host.loop import Worker
from workers.host.options import EXIT_USAGE, Options, UsageError, parse
from workers.host.pool.run_folder import RunFolder, hold_slot
from workers.host.process.subreaper import become_subreaper
from workers.host.settings import Settings, load_settings
from workers.host.signals import Signals


def main(argv: Sequence[str]) -> int:
    """The exit code; a person's mistake is one line on stderr."""
    try:
        options = parse(argv)
        settings = load_settings()
        home = Path(options.worker_home) if options.worker_home else settings.home / "worker"
        if options.chore is not None:
            return do_chore(options, home.absolute())
        _take_slot(settings)
        host = build_host(options, settings, make_private(home.absolute()))
        worker = Worker(host)
    except FactoryError as error:
        sys.stderr.write(f"work: {error.message}\n")
        return EXIT_USAGE
    note_without_agent(host.options)
    worker.offering.note_limits()
    gc.freeze()  # what is loaded by now stays: nobody has to look through it again and again for garbage
    return worker.run()


def build_host(options: Options, settings: Settings, home: Path) -> Host:
    """Everything that a worker is made of; ``UsageError`` before a byte is sent."""
    config = load_host_config(home)
    options = with_agent(options, config)
    credentials = CredentialFile(credential_path(options.credential_file, settings.home))
    url = check_address(options.url or credentials.current.url or settings.base_url)
    self_test()
    me = worker_id(credentials.current.node)
    _begin_log(me, settings, credentials)
    become_subreaper()
    signals = Signals()
    signals.install(lambda: credentials.reread(force=True))
    client = Client(url, credentials, me)
    for name in ("boots", "workspaces", "salvage"):
        make_private(home / name)
    return Host(
        settings=settings,
        options=options,
        config=config,
        home=home,
        client=client,
        boot=Boot(home, me),
        documents=Documents(home, client, signals.pause),
        registry=AdapterRegistry(),
        tokens=TokenSource(settings.forge_server_url, settings.environment),
        signals=signals,
        version=code_stamp(),
    )


def do_chore(options: Options, home: Path) -> int:
    """Print or remove what earlier attempts left, without a server."""
    if options.chore == "list_quarantine":
        _print(quarantine_lines(home) or ["nothing is quarantined"])
    elif options.chore == "purge_quarantine":
        _print([f"{purge_quarantine(home, options.older_than_days)} removed"])
    elif options.chore == "list_kept":
        _print(list(kept_lines(home)) or ["nothing is kept"])
    elif options.discard is not None:
        if not discard_kept(home, options.discard):
            raise UsageError("not_kept", f"nothing is kept for {options.discard}; see work --list-kept")
        _print([f"{options.discard} discarded"])
    return 0


def _take_slot(settings: Settings) -> None:
    """Note this process in its slot of the pool; ``Refused`` if another live one has it."""
    if settings.run_dir is None or settings.slot is None or hold_slot(settings.run_dir, settings.slot):
        return
    raise Refused("slot_taken", f"slot {settings.slot} of {settings.run_dir} has a live worker; leave it to supervise")


def _begin_log(me: str, settings: Settings, credentials: CredentialFile) -> None:
    """Log to the slot's own file in a pool, else to stderr."""
    if settings.run_dir is None or settings.slot is None:
        log_to(credentials, f"worker={me}")
    else:
        log_to(credentials, f"worker={me} slot={settings.slot}", file=RunFolder(settings.run_dir).log(settings.slot))


def _print(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
