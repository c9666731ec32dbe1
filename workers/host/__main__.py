"""``python -m workers.host``: one worker, HTTP only, no database. Exit 0 drained, 64 usage, 75 restart me."""

import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from runs.contract.errors import FactoryError
from runs.contract.ids import worker_id
from runs.contract.redactor import Redactor, self_test
from runs.contract.stamp import code_stamp
from runs.contract.tokens import TokenSource
from workers.host.adapters.registry import AdapterRegistry
from workers.host.attempt.record import discard_kept, kept_lines
from workers.host.client import Client
from workers.host.credential import CredentialFile, check_address
from workers.host.disk.boots import Boot
from workers.host.disk.documents import Documents
from workers.host.disk.files import make_private
from workers.host.disk.spool import purge_quarantine, quarantine_lines
from workers.host.host import Host
from workers.host.host_config import load_host_config
from workers.host.loop import Worker
from workers.host.options import EXIT_USAGE, Options, UsageError, parse
from workers.host.process.minder import become_subreaper
from workers.host.settings import Settings, load_settings
from workers.host.signals import Signals

DEFAULT_CREDENTIAL = Path("secrets", "worker-local.json")


def main(argv: Sequence[str]) -> int:
    """The exit code; a person's mistake is one line on stderr."""
    try:
        options = parse(argv)
        settings = load_settings()
        home = Path(options.worker_home) if options.worker_home else settings.home / "worker"
        if options.chore is not None:
            return do_chore(options, home.absolute())
        host = build_host(options, settings, make_private(home.absolute()))
        worker = Worker(host)
    except FactoryError as error:
        sys.stderr.write(f"work: {error.message}\n")
        return EXIT_USAGE
    return worker.run()


def build_host(options: Options, settings: Settings, home: Path) -> Host:
    """Everything that a worker is made of; ``UsageError`` before a byte is sent."""
    config = load_host_config(home)
    credentials = CredentialFile(Path(options.credential_file or settings.home / DEFAULT_CREDENTIAL))
    url = check_address(options.url or credentials.current.url or settings.base_url)
    self_test()
    me = worker_id(credentials.current.node)
    _log_to_stderr(me, settings, credentials)
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


class _Redacted(logging.Formatter):
    """logfmt lines in UTC without the credential."""

    def __init__(self, prefix: str, credentials: CredentialFile) -> None:
        super().__init__(f"%(asctime)s.%(msecs)03dZ level=%(levelname)s {prefix} %(message)s", "%Y-%m-%dT%H:%M:%S")
        self._credentials = credentials
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        return Redactor({"worker_credential": [self._credentials.current.token]}).redact(super().format(record))


def _log_to_stderr(me: str, settings: Settings, credentials: CredentialFile) -> None:
    handler = logging.StreamHandler(sys.stderr)
    slot = f" slot={settings.slot}" if settings.slot is not None else ""
    handler.setFormatter(_Redacted(f"worker={me}{slot}", credentials))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # Its lines about retried connections name addresses and say nothing that our own do not.
    logging.getLogger("urllib3").setLevel(logging.ERROR)


def _print(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
