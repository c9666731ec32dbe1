"""The network between workers and control plane: a TCP proxy that can refuse, delay and cut."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

CHUNK = 65_536
CONNECT_SECONDS = 5.0


class Proxy:
    """Listens on ``port`` and passes every connection on to ``target`` on this machine.

    ``refusing`` closes what connects and what is connected; ``delay`` holds each piece back for so many seconds;
    ``cutting`` ends a connection after the first bytes of an answer: the request had its effect and nobody hears of it.
    """

    def __init__(self, target: int) -> None:
        self.refusing = False
        self.cutting = False
        self.delay = 0.0
        self.struck = 0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target), timeout=CONNECT_SECONDS)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        threading.Thread(target=self._pass, args=(client, server), daemon=True).start()
        self._pass(server, client, answers=True)

    def _pass(self, source: socket.socket, sink: socket.socket, *, answers: bool = False) -> None:
        """Copy one direction until an end closes or the weather ends it."""
        with contextlib.suppress(OSError):
            while piece := source.recv(CHUNK):
                if self.refusing:
                    self.struck += 1
                    break
                if self.delay:
                    self.struck += 1
                    time.sleep(self.delay)
                if answers and self.cutting:
                    self.struck += 1
                    sink.sendall(piece[:20])
                    break
                sink.sendall(piece)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
