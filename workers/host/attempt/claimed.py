"""A claimed run whose documents are what their hashes say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.contract.canonical import bytes_hash, document_hash, parse_strict
from runs.contract.errors import Invalid
from runs.contract.ids import attempt_name, new_nonce
from runs.contract.spec import SPEC_VERSION, spec_value
from workers.host.adapters.contract import RunRefused
from workers.host.disk.documents import DocumentAltered

MISMATCH = "agent_definition_mismatch"
OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim, typed; nothing in it was verified yet."""

    run_id: str
    number: int
    token: str
    adapter: str
    model: str | None
    spec_hash: str
    spec: Mapping[str, Any]
    definition: Mapping[str, Any]
    prompt: Mapping[str, Any] | None
    documents: tuple[Mapping[str, Any], ...]
    heartbeat_seconds: float
    nonce: str

    @property
    def name(self) -> str:
        """The attempt's name."""
        return attempt_name(self.run_id, self.number)

    def value(self, name: str) -> Any:
        """A field of the spec or its default."""
        return spec_value(self.spec, name)

    @property
    def workspace(self) -> Mapping[str, Any]:
        """The workspace of the spec."""
        workspace: Mapping[str, Any] = self.value("workspace")
        return workspace

    @property
    def mutating(self) -> bool:
        """Whether the run may change something outside."""
        return bool(self.spec.get("mutating", self.definition.get("mutating", False)))

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories that the spec names."""
        named = (self.spec.get("repository"), self.workspace.get("repository"), self.workspace.get("headRepository"))
        return tuple(dict.fromkeys(name for name in named if name))


def read_claim(claim: Mapping[str, Any]) -> Claimed:
    """The claim of an answer that passed its schema, with a new nonce."""
    return Claimed(
        run_id=claim["runId"],
        number=claim["attempt"],
        token=claim["fencingToken"],
        adapter=claim["adapter"],
        model=claim.get("model"),
        spec_hash=claim["specHash"],
        spec=claim["spec"],
        definition=claim["definition"],
        prompt=claim.get("prompt"),
        documents=tuple(claim["documents"]),
        heartbeat_seconds=claim["heartbeatEveryMs"] / 1000,
        nonce=new_nonce(),
    )


def verify_claim(claimed: Claimed, fetch: Callable[[str], bytes]) -> Mapping[str, Any] | None:
    """The output schema (None if there is none), after every hash was computed again.

    Raises ``RunRefused`` (``agent_definition_mismatch``) for any difference, before anything is spawned.
    """
    if claimed.spec.get("schemaVersion") != SPEC_VERSION:
        raise RunRefused("unsupported_spec", f"this worker knows {SPEC_VERSION} only")
    _same("run spec", claimed.spec, claimed.spec_hash)
    _same("definition", claimed.definition, str(claimed.spec.get("defHash")))
    if claimed.prompt is not None:
        if bytes_hash(str(claimed.prompt["text"]).encode()) != claimed.prompt["hash"]:
            raise RunRefused(MISMATCH, "the prompt is not the one that its hash names")
        pinned = claimed.spec.get("promptHash")
        if pinned is not None and pinned != claimed.prompt["hash"]:
            raise RunRefused(MISMATCH, "the prompt is not the one that the run spec pins")
    output: Mapping[str, Any] | None = None
    for document in claimed.documents:
        try:
            content = fetch(document["hash"])
        except DocumentAltered as error:
            raise RunRefused(MISMATCH, f"{document['kind']} {document['name']} was altered on its way") from error
        if document["kind"] == "schema" and document["name"] == OUTPUT:
            output = _schema(content)
    return output


def _same(what: str, document: Mapping[str, Any], named: str) -> None:
    try:
        found = document_hash(document)
    except Invalid as error:
        raise RunRefused(MISMATCH, f"the {what} has no canonical form") from error
    if found != named:
        raise RunRefused(MISMATCH, f"the {what} is not the one that its hash names")


def _schema(content: bytes) -> Mapping[str, Any]:
    try:
        found = parse_strict(content)
    except Invalid as error:
        raise RunRefused(MISMATCH, "the output schema is no JSON") from error
    if not isinstance(found, dict):
        raise RunRefused(MISMATCH, "the output schema is no object")
    return found
