"""The client: one call is one request, answered or refused with one error; it never sleeps on a limit.

Only reads are repeated in place, twice, on broken connections and 502 to 504. A write is never repeated here: whoever
sent it reads back first. Every call raises at once inside a database transaction.
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from convergence.forge.batch_size import BatchSizes
from convergence.forge.config import ForgeConfig, TimeLimits
from convergence.forge.governor.account import CORE, GRAPHQL
from convergence.forge.governor.book import Book, MemoryBook
from convergence.forge.governor.governor import UNAUTHORISED_PROBE, Ask, Governor
from convergence.forge.governor.purposes import PATIENT, Purpose
from convergence.forge.guard import forge_guard
from convergence.forge.kept import MemoryShelf, Shelf
from convergence.forge.wire.answers import GATEWAY, Answer, document, error_of, message_of
from convergence.forge.wire.limits import after_reset, limit_until, told_by
from convergence.forge.wire.transport import Exchange, Transport
from runs.contract.errors import FactoryError, Permanent, Transient

if TYPE_CHECKING:
    from convergence.forge.documents.dialect import Dialect

ACCEPT = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
UNEXPLAINED = "something went wrong while executing your query"  # how GitHub reports a query that took too long


class _TokenAgain(Exception):
    """The first 401 of a request, caught in this module: resolve the token again and send once more."""


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """Data and errors of one document; every error has a path, the others are raised."""

    data: Mapping[str, Any]
    errors: Sequence[Mapping[str, Any]]
    headers: Mapping[str, str]


class Learnt:
    """What a client learnt of its server, shared by its twins of other purposes."""

    def __init__(self) -> None:
        self.dialect: tuple[Dialect, datetime] | None = None  # what the server offers, and when it said so


class ForgeClient:
    """Speaks to one GitHub with one credential at a time. Safe for threads; share one in a process."""

    def __init__(
        self,
        config: ForgeConfig,
        *,
        now: Callable[[], datetime],
        book: Book | None = None,
        shelf: Shelf | None = None,
        guard: Callable[[], None] = forge_guard,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``now`` is the product's clock; ``book`` and ``shelf`` hold what all processes share of limits and answers.

        Without them the process knows its own alone. ``sleep`` waits between the in-place retries of a read.
        """
        self.config = config
        self.now = now
        self.purpose = Purpose.WRITE
        self.governor = Governor(
            book or MemoryBook(),
            now=now,
            most_in_flight=config.max_in_flight,
            reserve=config.reserve,
            pace=config.pace,
        )
        self.shelf = shelf or MemoryShelf()
        self.batch_sizes = BatchSizes(config.max_batch)
        self.learnt = Learnt()
        self._guard = guard
        self._sleep = sleep
        self._transport = Transport(
            user_agent=f"factory/{config.version}",
            connect_seconds=config.limits.connect,
            body_bytes=config.body_bytes,
        )

    def serving(self, purpose: Purpose) -> Self:
        """Return the same client whose requests are for this purpose; everything else is shared."""
        twin = copy.copy(self)
        twin.purpose = purpose
        return twin

    @property
    def limits(self) -> TimeLimits:
        """How long an answer may take: a person is told sooner that GitHub does not answer."""
        return self.config.person_limits if self.purpose is Purpose.PERSON else self.config.limits

    def poll_factor(self) -> int:
        """How many times longer the interval between two polls is, because the hourly budget is scarce."""
        try:
            return self.governor.poll_factor(self.credential_id())
        except FactoryError:
            return 1  # without a token nothing is spent

    def close(self) -> None:
        """Close the connections that are kept open; the client stays usable."""
        self._transport.close()

    def credential_id(self) -> str:
        """Return the id under which records name the credential in use."""
        return self.config.tokens.token().credential_id

    def rest(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return the answer to one REST request; ``path`` is below the API's address, or a whole next-page address."""
        exchange = self._request(
            method,
            self._url(path),
            CORE,
            read_seconds=self.limits.rest,
            params=params,
            json=json,
            retries=self.limits.read_retries if method == "GET" else (),
            headers=headers,
            creates=method == "POST",
        )
        return Answer(
            status=exchange.status,
            body=document(exchange),
            headers=exchange.headers,
            next_url=_next_page(exchange.headers.get("Link", "")),
            moved_to=exchange.moved_to,
        )

    def raw(self, path: str) -> bytes:
        """Return the bytes that a path answers with, of something that is no JSON."""
        url, seconds = self._url(path), self.limits.rest
        exchange = self._request("GET", url, CORE, read_seconds=seconds, params=None, json=None, retries=())
        return exchange.content

    def query(self, text: str, variables: Mapping[str, Any], *, halving: bool = False) -> GraphAnswer:
        """Return data and path errors of a document that reads.

        With ``halving`` a 502 to 504 is raised at once, because the caller asks for less instead of asking again.
        """
        return self._graph(text, variables, retries=self.limits.read_retries, halving=halving)

    def mutate(self, text: str, variables: Mapping[str, Any], *, creates: bool = False) -> GraphAnswer:
        """Return data and path errors of a document that writes; sent once. ``creates``: it makes content."""
        return self._graph(text, variables, retries=(), halving=False, creates=creates)

    def gave_up(self) -> None:
        """Note that queries are not answered, after a caller that asked for less and less gave up."""
        self.governor.failed(self._ask(GRAPHQL))

    def _ask(self, resource: str, *, creates: bool = False) -> Ask:
        return Ask(self.credential_id(), resource, self.purpose, creates)

    def _graph(
        self,
        text: str,
        variables: Mapping[str, Any],
        *,
        retries: Sequence[float],
        halving: bool,
        creates: bool = False,
    ) -> GraphAnswer:
        exchange = self._request(
            "POST",
            self.config.graphql_url,
            GRAPHQL,
            read_seconds=self.limits.graphql,
            params=None,
            json={"query": text, "variables": dict(variables)},
            retries=retries,
            halving=halving,
            creates=creates,
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
            self.governor.defective(self._ask(GRAPHQL), str(unplaced[0].get("message", "no message")))
            raise Permanent(
                "forge_query_rejected",
                f"GitHub rejects a query of the product: {unplaced[0].get('message', 'no message')}",
                details={"messages": [str(error.get("message")) for error in unplaced[:5]]},
            )
        return GraphAnswer(data=body.get("data") or {}, errors=errors, headers=exchange.headers)

    def _graph_limit(self, exchange: Exchange) -> Transient:
        reset = exchange.headers.get("X-RateLimit-Reset", "")
        until = after_reset(float(reset)) if reset.isdigit() else self.now() + timedelta(seconds=60)
        return self._blocked(self._ask(GRAPHQL), until, "GitHub's budget for queries is spent")

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
        headers: Mapping[str, str] | None = None,
        halving: bool = False,
        creates: bool = False,
    ) -> Exchange:
        """Return a good exchange; in place again after each pause of ``retries`` for what may heal in seconds."""
        self._guard()
        pauses = list(retries)
        renewed = False
        while True:
            token = self.config.tokens.token()
            ask = Ask(token.credential_id, resource, self.purpose, creates)
            sent = {"params": params, "json": json, "headers": {**ACCEPT, **(headers or {})}}
            try:
                with self.governor.admitted(ask):
                    exchange = self._transport.send(method, url, token=token, read_seconds=read_seconds, **sent)
                    return self._judge(exchange, ask, last_try=renewed)
            except _TokenAgain:
                self.config.tokens.renew()
                renewed = True
            except Transient as error:
                if error.details.get("limited") or error.details.get("away"):
                    raise
                gateway = error.details.get("status") in GATEWAY and not halving
                patient = self.purpose in PATIENT and self.governor.is_away(ask)
                if not pauses or patient or not (gateway or error.details.get("broken")):
                    if not halving:
                        self.governor.failed(ask)
                    raise
                self._sleep(pauses.pop(0))

    def _judge(self, exchange: Exchange, ask: Ask, *, last_try: bool) -> Exchange:
        """Return a good answer, ask for the token again on a first 401, raise the error of any other."""
        if exchange.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self.governor.answered(ask, told_by(exchange))
        if exchange.status < HTTPStatus.BAD_REQUEST:
            self._spent(exchange, ask)
            return exchange
        if exchange.status == HTTPStatus.UNAUTHORIZED and not last_try:
            raise _TokenAgain
        message = message_of(exchange)
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            refused = error_of(exchange)
            self.governor.block(ask, self.now() + UNAUTHORISED_PROBE, refused, everything=True)
            raise refused
        limit = limit_until(exchange, message, self.now(), lambda: self.governor.next_secondary(ask.credential))
        if limit is not None:
            until, everything = limit
            raise self._blocked(ask, until, f"GitHub limits us: {message}", everything=everything)
        raise error_of(exchange)

    def _spent(self, exchange: Exchange, ask: Ask) -> None:
        """Stop before GitHub must: a budget of 0 on a good answer blocks the resource until its reset."""
        reset = exchange.headers.get("X-RateLimit-Reset", "")
        if exchange.headers.get("X-RateLimit-Remaining") == "0" and reset.isdigit():
            self._blocked(ask, after_reset(float(reset)), "GitHub's budget is spent")

    def _blocked(self, ask: Ask, until: datetime, message: str, *, everything: bool = False) -> Transient:
        error = Transient(
            "forge_limited",
            message,
            retry_after=(until - self.now()).total_seconds(),
            details={"blocked_until": until.isoformat(), "resource": ask.resource, "limited": True},
        )
        self.governor.block(ask, until, error, everything=everything)
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
