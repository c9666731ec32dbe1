"""What every request of the worker protocol passes before its view, in the protocol's order of checks.

TLS → token → rate → size → JSON → ``protocolVersion`` → worker id. Views get a ``Caller`` and a well-formed body, and
raise errors of the error tree; this module turns them into answers.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpResponseBase, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt

from runs.clock import now
from runs.contract.canonical import parse_strict
from runs.contract.errors import FactoryError, Invalid, NotFound, Refused, Transient
from runs.contract.ids import WORKER_PATTERN
from runs.contract.numbers import whole_number
from runs.contract.wire import BODY_LIMITS, PROTOCOL_VERSION, check_request
from runs.rows import row_find
from workers.models import CredentialToken
from workers.selectors import TokenState, token_state
from workers.services.credentials import TOKEN_PATTERN, token_hash, token_used
from workers.wire import limits
from workers.wire.answers import error_answer
from workers.wire.policy import trusted_proxies
from workers.wire.transport import peer_address, tls_check

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest

log = structlog.get_logger(__name__)

DATABASE_RETRY_SECONDS = 1.0
REPEATED = frozenset({"claim"})  # an idle worker says the same thing every 25 seconds, and so do its neighbours


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: proven by the token, and the boot of its node that the worker id names; no boot for a supervisor."""

    token: CredentialToken
    worker_id: str

    @property
    def node(self) -> str:
        """The credential's node."""
        return self.token.credential.node


View = Callable[..., HttpResponseBase]


def endpoint(
    method: str, *, body: str | None = None, versioned: bool = False, boot: bool = True
) -> Callable[[View], View]:
    """Make a view of the worker protocol; it is called with request, caller, the parsed ``body`` and the URL's parts.

    ``body`` names the request whose form and size apply; None: there is no JSON to read. ``versioned``: the body has
    to carry this protocol's version. ``boot``: the caller has to say which worker it is.
    """

    def wrap(view: View) -> View:
        @csrf_exempt
        @functools.wraps(view)
        def checked(request: HttpRequest, **parts: Any) -> HttpResponseBase:
            try:
                token = authenticated(request)
                if request.method != method:
                    raise NotFound("not_found", f"there is no {request.method} {request.path}")
                document = _document(request, body, versioned=versioned) if body else None
                caller = Caller(token, _worker_id(request, token) if boot else "")
                return view(request, caller, document, **parts) if body else view(request, caller, **parts)
            except FactoryError as error:
                return error_answer(error)
            except UnreadablePostError:
                return error_answer(Invalid("malformed", "the connection ended before the body did"))
            except (DataError, OverflowError):
                return error_answer(Invalid("malformed", "a value is longer or larger than its place"))
            except (OperationalError, InterfaceError) as error:
                log.warning("database unavailable to a worker request", path=request.path, error=str(error))
                sentence = "the database cannot be reached at the moment"
                return error_answer(Transient("unavailable", sentence, retry_after=DATABASE_RETRY_SECONDS))

        return checked

    return wrap


def authenticated(request: HttpRequest) -> CredentialToken:
    """The valid token that the request proves, counted against its rate; raises the 401s, 403 ``tls_required``, 429."""
    tls_check(request, trusted_proxies=trusted_proxies())
    address = peer_address(request)
    token = _token(request, address)
    at = now()
    _state_check(token, at)
    limits.request_rate.take(token.credential_id)
    token_used(token, address=address, at=at)
    return token


def still_valid(token: CredentialToken) -> None:
    """Let a held request go on whose token is still valid now; raises the 401s like ``authenticated``."""
    _state_check(CredentialToken.objects.select_related("credential").get(pk=token.pk), now())


def idempotency_key(request: HttpRequest) -> str:
    """The caller's key in the usual form of a UUID; ``Invalid`` (``malformed``) without one."""
    text = request.headers.get("Idempotency-Key", "")
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise Invalid("malformed", "the header Idempotency-Key has to be a UUID") from None


def _state_check(token: CredentialToken, at: datetime) -> None:
    state = token_state(token, at)
    if state is TokenState.REVOKED:
        raise Refused("credential_revoked", f"this token of {token.credential.node} was revoked")
    if state is TokenState.EXPIRED:
        raise Refused("credential_expired", f"this token of {token.credential.node} has expired")


def _token(request: HttpRequest, address: str) -> CredentialToken:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise Refused("credential_missing", "the header Authorization: Bearer … is missing")
    is_token = TOKEN_PATTERN.fullmatch(secret) is not None
    row = row_find(CredentialToken, joined="credential", token_hash=token_hash(secret)) if is_token else None
    if row is None:
        limits.bad_tokens.count(address)
        raise Refused("credential_unknown", "this token is not known here")
    return row


def _document(request: HttpRequest, name: str, *, versioned: bool) -> Any:
    content = _bounded(request, BODY_LIMITS[name])
    return _repeated(name, content) if name in REPEATED else _well_formed(name, content, versioned=versioned)


@functools.lru_cache(maxsize=256)
def _repeated(name: str, content: bytes) -> Any:
    """The document of a request that workers repeat to the byte, read and checked once; nobody may change it."""
    return _well_formed(name, content, versioned=True)


def _well_formed(name: str, content: bytes, *, versioned: bool) -> Any:
    try:
        document = parse_strict(content)
    except Invalid as error:
        raise Invalid("malformed", error.message) from error
    if versioned:
        _version_check(document)
    check_request(name, document)
    return document


def _bounded(request: HttpRequest, limit: int) -> bytes:
    """The body, read only if its stated length is within the limit."""
    length = whole_number(request.headers.get("Content-Length") or "0")
    if length is None or length > limit:
        raise Invalid("too_large", f"the body is longer than the limit of {limit} bytes", details={"limit": limit})
    return request.read(length)


def _version_check(document: Any) -> None:
    version = document.get("protocolVersion") if isinstance(document, dict) else None
    is_number = isinstance(version, int) and not isinstance(version, bool)
    if is_number and version != PROTOCOL_VERSION:
        raise Invalid(
            "protocol_unsupported",
            f"this server speaks version {PROTOCOL_VERSION} of the protocol",
            details={"supported": [PROTOCOL_VERSION]},
        )


def _worker_id(request: HttpRequest, token: CredentialToken) -> str:
    worker_id = request.headers.get("X-Worker-Id", "")
    if not worker_id:
        raise Invalid("malformed", "the header X-Worker-Id is missing")
    node = token.credential.node
    if not worker_id.startswith(f"{node}."):
        raise Refused("wrong_node", f"the credential of {node} does not speak for {worker_id[:128]}")
    if not WORKER_PATTERN.fullmatch(worker_id):
        raise Invalid("malformed", "X-Worker-Id has the form <node>.<UTC start>.<6 hex>")
    return worker_id
