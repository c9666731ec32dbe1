"""Which certificates and proxies count for a worker's requests, on real TLS."""

import http.server
import json
import shutil
import ssl
import subprocess
import threading

import pytest

from workers.host.client import Client, Unreachable
from workers.host.credential import CredentialFile
from workers.host.options import UsageError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


class _Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        """Nothing is worth a line."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A certificate for this machine, signed by itself, with its key beside it."""
    folder = tmp_path_factory.mktemp("tls")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    asked = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
    places = ["-keyout", folder / "key.pem", "-out", folder / "authority.pem"]
    subprocess.run(["openssl", *asked, names, *places], check=True, capture_output=True)
    return folder / "authority.pem"


@pytest.fixture
def connect(authority, tmp_path):
    """Makes a client of a server behind TLS on this machine, with the environment as it is then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, authority.parent / "key.pem")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "credential.json"
    document = {"schemaVersion": "factory.worker-credential/v1", "node": "lab", "token": "secret"}
    file.write_text(json.dumps(document))
    file.chmod(0o600)
    yield lambda: Client(f"https://localhost:{server.server_port}", CredentialFile(file), "lab.1")
    server.shutdown()
    server.server_close()


def test_a_private_authority_counts_on_this_machine_and_a_proxy_does_not(connect, authority, monkeypatch):
    """As behind a tunnel: https on a loopback address, signed by an authority of the site."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority))
    assert connect().get("/").content == b"hello"


def test_an_unknown_authority_is_named_as_the_cause(connect, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    with pytest.raises(Unreachable, match="REQUESTS_CA_BUNDLE"):
        connect().get("/")


def test_an_authority_that_is_not_there_stops_the_start(connect, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/absent/authority.pem")
    with pytest.raises(UsageError, match=r"REQUESTS_CA_BUNDLE: /absent/authority\.pem cannot be used"):
        connect()
