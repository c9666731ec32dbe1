"""The client: one call is one request, answered or refused with one error; it never sleeps on a limit.

Only reads are repeated in place, twice, on broken connections and 502 to 504. A write is never repeated here: whoever
sent it reads back first. Every call raises at once inside a database transaction.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from convergence.forge.batch_size import BatchSizes
from convergence.forge.config import ForgeConfig
from convergence.forge.guard import forge_guard
from convergence.forge.wire.answers import GATEWAY, Answer, document, error_of, message_of
from convergence.forge.wire.limits import ALL, UNAUTHORISED_PROBE, LimitBook, after_reset, limit_until, unauthorised
from convergence.forge.wire.transport import Exchange, Transport
from runs.contract.errors import FactoryError, Permanent, Transient
from runs.contract.tokens import Token

if TYPE_CHECKING:
    from convergence.forge.documents.dialect import Dialect

ACCEPT = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
CORE, GRAPHQL = "core", "graphql"


UNEXPLAINED = "something went wrong while executing your query"  # how GitHub reports a query that took too long


class _TokenAgain(Exception):
    """The first 401 of a request, caught in this module: resolve the token again and send once more."""


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """Data and errors of one document; every error has a path, the others are raised."""

    data: Mapping[str, Any]
    errors: Sequence[Mapping[str, Any]]
    headers: Mapping[str, str]


class ForgeClient:
    """Speaks to one GitHub with one credential at a time. Safe for threads; share one in a process."""

    def __init__(
        self,
        config: ForgeConfig,
        *,
        now: Callable[[], datetime],
        guard: Callable[[], None] = forge_guard,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``now`` is the product's clock; ``sleep`` waits between the in-place retries of a read."""
        self.config = config
        self.now = now
        self.book = LimitBook()
        self.batch_sizes = BatchSizes(config.max_batch)
        self.dialect: tuple[Dialect, datetime] | None = None  # what the server offers, and when it said so
        self._guard = guard
        self._sleep = sleep
        self._transport = Transport(
            user_agent=f"factory/{config.version}",
            connect_seconds=config.limits.connect,
            body_bytes=config.body_bytes,
        )

    def close(self) -> None:
        """Close the connections that are kept open; the client stays usable."""
        self._transport.close()

    def credential_id(self) -> str:
        """Return the id under which records name the credential in use."""
        return self.config.tokens.token().credential_id

    def rest(self, method: str, path: str, *, params: Mapping[str, str] | None = None, json: Any = None) -> Answer:
        """Return the answer to one REST request; ``path`` is below the API's address, or a whole next-page address."""
        exchange = self._request(
            method,
            self._url(path),
            CORE,
            read_seconds=self.config.limits.rest,
            params=params,
            json=json,
            retries=self.config.limits.read_retries if method == "GET" else (),
        )
        return Answer(
            status=exchange.status,
            body=document(exchange),
            headers=exchange.headers,
            next_url=_next_page(exchange.headers.get("Link", "")),
            moved_to=exchange.moved_to,
        )

    def query(self, text: str, variables: Mapping[str, Any], *, halving: bool = False) -> GraphAnswer:
        """Return data and path errors of a document that reads.

        With ``halving`` a 502 to 504 is raised at once, because the caller asks for less instead of asking again.
        """
        return self._graph(text, variables, retries=self.config.limits.read_retries, halving=halving)

    def mutate(self, text: str, variables: Mapping[str, Any]) -> GraphAnswer:
        """Return data and path errors of a document that writes; sent once."""
        return self._graph(text, variables, retries=(), halving=False)

    def _graph(
        self, text: str, variables: Mapping[str, Any], *, retries: Sequence[float], halving: bool
    ) -> GraphAnswer:
        exchange = self._request(
            "POST",
            self.config.graphql_url,
            GRAPHQL,
            read_seconds=self.config.limits.graphql,
            params=None,
            json={"query": text, "variables": dict(variables)},
            retries=retries,
            halving=halving,
        )
        body = document(exchange)
        if not isinstance(body, Mapping):
            raise Transient("forge_unavailable", "GitHub answered a query with no object", details={"sent": True})
        errors = [error for error in body.get("errors") or () if isinstance(error, Mapping)]
        if any(error.get("type") == "RATE_LIMITED" for error in errors):
            raise self._graph_limit(exchange)
        unplaced = [error for error in errors if not error.get("path")]
        if unplaced and str(unplaced[0].get("message", "")).lower().startswith(UNEXPLAINED):
            details = {"sent": True, "timed_out": True}
            raise Transient("forge_unavailable", "GitHub gave up on a query that took too long", details=details)
        if unplaced:
            raise Permanent(
                "forge_query_rejected",
                f"GitHub rejects a query of the product: {unplaced[0].get('message', 'no message')}",
                details={"messages": [str(error.get("message")) for error in unplaced[:5]]},
            )
        return GraphAnswer(data=body.get("data") or {}, errors=errors, headers=exchange.headers)

    def _graph_limit(self, exchange: Exchange) -> Transient:
        credential = self.credential_id()
        reset = exchange.headers.get("X-RateLimit-Reset", "")
        until = after_reset(float(reset)) if reset.isdigit() else self.now() + timedelta(seconds=60)
        return self._blocked(credential, GRAPHQL, until, "GitHub's budget for queries is spent")

    def _request(
        self,
        method: str,
        url: str,
        resource: str,
        *,
        read_seconds: float,
        params: Mapping[str, str] | None,
        json: Any,
        retries: Sequence[float],
        halving: bool = False,
    ) -> Exchange:
        """Return a good exchange; in place again after each pause of ``retries`` for what may heal in seconds."""
        self._guard()
        pauses = list(retries)
        renewed = False
        while True:
            token = self.config.tokens.token()
            try:
                with self._admitted(token, resource):
                    exchange = self._transport.send(
                        method,
                        url,
                        token=token,
                        read_seconds=read_seconds,
                        headers=ACCEPT,
                        params=params,
                        json=json,
                    )
                    return self._judge(exchange, token, resource, last_try=renewed)
            except _TokenAgain:
                self.config.tokens.renew()
                renewed = True
            except Transient as error:
                gateway = error.details.get("status") in GATEWAY and not halving
                if not pauses or not (gateway or error.details.get("broken")):
                    raise
                self._sleep(pauses.pop(0))

    @contextmanager
    def _admitted(self, token: Token, resource: str) -> Iterator[None]:
        """Hold the right to send; tells the book how it ended, so that a probe never stays open."""
        credential = token.credential_id
        self.book.admit(credential, resource, self.now())
        good = False
        try:
            yield
            good = True
        except Transient:
            raise
        except FactoryError as error:
            good = error.code != "forge_unauthorised"  # a refusal of this one thing is an answer all the same
            raise
        finally:
            self.book.answered(credential, resource, good=good)

    def _judge(self, exchange: Exchange, token: Token, resource: str, *, last_try: bool) -> Exchange:
        """Return a good answer, ask for the token again on a first 401, raise the error of any other."""
        credential = token.credential_id
        self._note_budget(exchange, credential, resource)
        if exchange.status < HTTPStatus.BAD_REQUEST:
            return exchange
        if exchange.status == HTTPStatus.UNAUTHORIZED and not last_try:
            raise _TokenAgain
        message = message_of(exchange)
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            error = unauthorised(message)
            self.book.block(credential, ALL, self.now() + UNAUTHORISED_PROBE, error)
            raise error
        limit = limit_until(exchange, message, self.now(), self.book, credential)
        if limit is not None:
            until, everything = limit
            raise self._blocked(credential, ALL if everything else resource, until, f"GitHub limits us: {message}")
        raise error_of(exchange)

    def _note_budget(self, exchange: Exchange, credential: str, resource: str) -> None:
        """Stop before GitHub must: a budget of 0 on a good answer blocks the resource until its reset."""
        reset = exchange.headers.get("X-RateLimit-Reset", "")
        spent = exchange.headers.get("X-RateLimit-Remaining") == "0"
        if exchange.status < HTTPStatus.BAD_REQUEST and spent and reset.isdigit():
            self._blocked(credential, resource, after_reset(float(reset)), "GitHub's budget is spent")

    def _blocked(self, credential: str, resource: str, until: datetime, message: str) -> Transient:
        seconds = (until - self.now()).total_seconds()
        error = Transient(
            "forge_limited",
            message,
            retry_after=seconds,
            details={"blocked_until": until.isoformat(), "resource": resource, "limited": True},
        )
        self.book.block(credential, resource, until, error)
        return error

    def _url(self, path: str) -> str:
        base = self.config.api_url
        if not path.startswith(("http://", "https://")):
            return f"{base}/{path.lstrip('/')}"
        wanted, own = urlsplit(path), urlsplit(base)
        if (wanted.scheme, wanted.netloc) != (own.scheme, own.netloc):
            raise Permanent("forge_redirect_refused", f"the next page is on another host: {wanted.netloc}")
        return path


def _next_page(link: str) -> str | None:
    """Return the address with ``rel="next"`` of a ``Link`` header."""
    for part in link.split(","):
        address, _, rest = part.partition(";")
        if 'rel="next"' in rest:
            return address.strip().strip("<>")
    return None
