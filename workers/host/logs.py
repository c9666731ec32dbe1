"""Where a worker or supervisor logs: logfmt lines in UTC, without its credential, and all stacks on SIGUSR1."""

import faulthandler
import io
import logging
import os
import signal
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from runs.contract.redactor import Redactor
from workers.host.credential import CredentialFile

FILE_BYTES = 10 * 1000**2
FILES = 5  # the one that is written included


def log_to(credentials: CredentialFile, prefix: str, *, file: Path | None = None, also_stderr: bool = False) -> None:
    """Log to the file, rotated by this process, to stderr, or to both; ``prefix`` begins each line.

    SIGUSR1 writes the stacks of all threads to the same place, also when this process is stuck.
    """
    handlers: list[logging.Handler] = [_Rotating(file)] if file is not None else []
    if file is None or also_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(_Redacted(prefix, credentials))
    logging.basicConfig(level=logging.INFO, handlers=handlers)
    if file is None:
        _stacks_to(sys.stderr)
    # Its lines about retried connections name addresses and say nothing that our own do not.
    logging.getLogger("urllib3").setLevel(logging.ERROR)


class _Redacted(logging.Formatter):
    """One line without the credential; the level is said where it is more than information."""

    def __init__(self, prefix: str, credentials: CredentialFile) -> None:
        super().__init__(f"%(asctime)s.%(msecs)03dZ %(said)s{prefix + ' ' if prefix else ''}%(message)s",
                         "%Y-%m-%dT%H:%M:%S")  # fmt: skip
        self._credentials = credentials
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        record.said = f"level={record.levelname} " if record.levelno > logging.INFO else ""
        return Redactor({"worker_credential": [self._credentials.current.token]}).redact(super().format(record))


class _Rotating(RotatingFileHandler):
    """A private file that is rotated at its size; stacks go to the one that is written now."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", errors="replace")

    def _open(self) -> io.TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        stream = os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)
        _stacks_to(stream)
        return stream


def _stacks_to(stream: TextIO) -> None:
    faulthandler.register(signal.SIGUSR1, file=stream, all_threads=True)
