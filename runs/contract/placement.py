"""Whether a worker's offer satisfies a run's requirements, and the canonical form of those requirements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runs.contract.canonical import document_hash

ANY_ADAPTER = "any"
ANY_REPOSITORY = "*"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker says it can take; ``any_adapter`` runs what leaves the adapter to the worker."""

    labels: Mapping[str, str] = field(default_factory=dict)
    adapters: frozenset[str] = frozenset()
    any_adapter: str | None = None
    adapter_override: str | None = None
    workspace_kinds: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a run needs of a worker, and the two names that pauses and caps go by."""

    adapter: str
    workspace_kind: str
    labels: Mapping[str, str] = field(default_factory=dict)
    repository: str | None = None
    agent_id: str = ""
    weight_class: str = "standard"

    def canonical(self) -> dict[str, object]:
        """The document whose hash names the placement class."""
        return {
            "adapter": self.adapter,
            "agentId": self.agent_id,
            "labels": dict(self.labels),
            "repository": self.repository,
            "weightClass": self.weight_class,
            "workspaceKind": self.workspace_kind,
        }

    def class_hash(self) -> str:
        """The name of the placement class: equal requirements share it."""
        return document_hash(self.canonical())


def missing(offer: Offer, requirement: Requirement) -> Iterator[str]:
    """Each thing that the offer lacks, as ``adapter x`` or ``label k=v``; nothing if it matches.

    Repositories compare without regard to case, as the forge does.
    """
    if offer.adapter_override is None:
        if requirement.adapter == ANY_ADAPTER:
            if offer.any_adapter is None:
                yield "an adapter for any"
        elif requirement.adapter not in offer.adapters:
            yield f"adapter {requirement.adapter}"
    for key, value in sorted(requirement.labels.items()):
        if offer.labels.get(key) != value:
            yield f"label {key}={value}"
    if requirement.workspace_kind not in offer.workspace_kinds:
        yield f"workspace kind {requirement.workspace_kind}"
    if requirement.repository is not None and not repository_offered(offer, requirement.repository):
        yield f"repository {requirement.repository}"


def matches(offer: Offer, requirement: Requirement) -> bool:
    """Whether a worker with this offer may be given this run."""
    return next(missing(offer, requirement), None) is None


def repository_offered(offer: Offer, repository: str) -> bool:
    """Whether ``owner/repo`` is in the offer by name, by ``owner/*`` or by ``*``."""
    wanted = repository.lower()
    owner = wanted.partition("/")[0]
    offered = {name.lower() for name in offer.repositories}
    return bool({wanted, f"{owner}/*", ANY_REPOSITORY} & offered)


def resolve_adapter(offer: Offer, adapter: str) -> str | None:
    """The adapter that executes a run whose spec names ``adapter``; None if the offer has none."""
    if offer.adapter_override is not None:
        return offer.adapter_override
    if adapter == ANY_ADAPTER:
        return offer.any_adapter
    return adapter if adapter in offer.adapters else None


def offer_of(document: Mapping[str, object]) -> Offer:
    """The offer inside a hello or claim body that passed its schema."""
    labels = document.get("labels") or {}
    return Offer(
        labels=dict(labels) if isinstance(labels, Mapping) else {},
        adapters=_names(document.get("adapters")),
        any_adapter=_name(document.get("anyAdapter")),
        adapter_override=_name(document.get("adapterOverride")),
        workspace_kinds=_names(document.get("workspaceKinds")),
        repositories=_names(document.get("repositories")),
    )


def _names(value: object) -> frozenset[str]:
    return frozenset(str(name) for name in value) if isinstance(value, list | tuple | set | frozenset) else frozenset()


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
