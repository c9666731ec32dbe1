"""The wire inside one process: the product's own client speaks to a simulated GitHub without a socket."""

import io
import json
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from urllib3.response import HTTPResponse

from fixtures.simulator.rest.routing import Request
from fixtures.simulator.server import PROXY_PAGE, Cut, serve


class WorldAdapter(BaseAdapter):
    """Answers what a session sends from a world, broken where one of its faults says so."""

    def __init__(self, sim, arrived):
        super().__init__()
        self.sim = sim
        self.arrived = arrived

    def send(self, request, stream=False, timeout=None, verify=True, cert=None, proxies=None):  # noqa: PLR0917 -- the signature is of requests
        del stream, timeout, verify, cert, proxies
        parts = urlsplit(request.url)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        asked = Request(request.method, parts.path, parts.query, headers, body, self.sim.world, self.sim.git)
        self.arrived(asked)
        try:
            made = serve(self.sim, asked)
        except Cut:
            raise requests.exceptions.ConnectionError("the connection broke") from None
        if made.broken == "shorten_next":
            raise requests.exceptions.ChunkedEncodingError("the answer broke off")
        content = b"" if made.body is None else json.dumps(made.body).encode()
        return self._response(request, made, PROXY_PAGE if made.broken == "garble_next" else content)

    def _response(self, request, made, content):
        response = requests.Response()
        response.status_code, response.request, response.url = made.status, request, request.url
        response.headers = requests.structures.CaseInsensitiveDict(made.headers)
        response.raw = HTTPResponse(body=io.BytesIO(content), status=made.status, preload_content=False)
        return response

    def close(self):
        """Nothing is held."""


def session(sim, arrived):
    """A session as the client makes one, whose requests reach the world and nothing else; ``arrived`` hears of each."""
    made = requests.Session()
    made.trust_env = False
    made.mount("http://", WorldAdapter(sim, arrived))
    return made
