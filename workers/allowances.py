"""What a credential allows, and whether an offer stays within it; pure, the one place where both are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runs.contract.errors import Invalid, Refused
from runs.contract.ids import REPOSITORY_PATTERN
from workers.models.credential import ANYTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEFAULT_KINDS = ("artifacts", "ephemeral", "repository")  # a node that may change repositories is a decision
KINDS = (*DEFAULT_KINDS, "worktree")
# What a worker finds out about its machine; it decides nothing that a person would have to allow.
FOUND_LABELS = ("arch", "os", "isolation")
FOUND_PREFIX = "sandbox-"
NODE_LABEL = "node"  # the server's own, from the credential
LABEL_KEY = re.compile(r"[a-z][a-z0-9-]*")
ADAPTER_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
OWNER_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/\*")


@dataclass(frozen=True, slots=True)
class Allowances:
    """The allow-lists of one node; ``*`` in a list stands for everything of its kind."""

    labels: Mapping[str, Iterable[str]] = field(default_factory=dict)
    adapters: Iterable[str] = ()
    workspace_kinds: Iterable[str] = ()
    repositories: Iterable[str] = ()
    adapter_override: bool = False


EVERYTHING = Allowances(
    labels={ANYTHING: (ANYTHING,)},
    adapters=(ANYTHING,),
    workspace_kinds=KINDS,
    repositories=(ANYTHING,),
    adapter_override=True,
)


def allowances_check(allowed: Allowances) -> None:
    """Let well-formed lists pass; ``Invalid`` (``invalid_field``) names the first wrong entry."""
    for key in allowed.labels:
        if key == NODE_LABEL:
            raise _wrong("label", key, "the label node is the server's own: it follows from the credential")
        if key != ANYTHING and not LABEL_KEY.fullmatch(key):
            raise _wrong("label", key, "a key is lower-case letters, digits and hyphens, and begins with a letter")
    for name in allowed.adapters:
        if name != ANYTHING and not ADAPTER_NAME.fullmatch(name):
            raise _wrong("adapter", name, "a name is lower-case letters, digits and hyphens")
    for name in allowed.workspace_kinds:
        if name not in KINDS:
            raise _wrong("workspace-kind", name, f"there are {', '.join(KINDS)}")
    for name in allowed.repositories:
        if name != ANYTHING and not (REPOSITORY_PATTERN.fullmatch(name) or OWNER_PATTERN.fullmatch(name)):
            raise _wrong("repository", name, "it is owner/repo, owner/* or *")


def with_defaults(stated: Allowances) -> Allowances:
    """The lists of a new node: where no adapter or no kind was named, the default ones."""
    return replace(
        stated,
        adapters=tuple(stated.adapters) or (ANYTHING,),
        workspace_kinds=tuple(stated.workspace_kinds) or DEFAULT_KINDS,
    )


def widened(held: Allowances, further: Allowances) -> Allowances:
    """Both lists together; nothing that was allowed is taken away."""
    keys = {*held.labels, *further.labels}
    return Allowances(
        labels={key: _union(held.labels.get(key, ()), further.labels.get(key, ())) for key in sorted(keys)},
        adapters=_union(held.adapters, further.adapters),
        workspace_kinds=_union(held.workspace_kinds, further.workspace_kinds),
        repositories=_union(held.repositories, further.repositories),
        adapter_override=held.adapter_override or further.adapter_override,
    )


def offer_check(*, node: str, allowed: Allowances, offer: Mapping[str, Any]) -> None:
    """Let an offer within the credential pass; ``Refused`` (``capability_escalation``) names what it may not claim.

    ``offer`` holds labels, adapters, anyAdapter, adapterOverride, workspaceKinds and repositories in their wire form.
    ``details`` holds the kind of the thing as key and its name as value, and the command that widens the credential;
    for a repository also those that are ``allowed``, so that a worker without a list of its own can offer them.
    """
    for key, value in sorted(offer["labels"].items()):
        if not label_allowed(allowed, key, value):
            raise _escalation(node, "label", f"{key}={value}")
    override = offer.get("adapterOverride")
    if override is not None and not allowed.adapter_override:
        raise _escalation(node, "adapterOverride", override)
    adapters = [*offer["adapters"], *(name for name in (offer.get("anyAdapter"), override) if name)]
    for name in adapters:
        if not _listed(allowed.adapters, name):
            raise _escalation(node, "adapter", name)
    for name in offer["workspaceKinds"]:
        if not _listed(allowed.workspace_kinds, name):
            raise _escalation(node, "workspaceKind", name)
    for name in offer["repositories"]:
        if not repository_allowed(allowed, name):
            raise _escalation(node, "repository", name, allowed=sorted(allowed.repositories))


def label_allowed(allowed: Allowances, key: str, value: str) -> bool:
    """Whether this label may be offered: found on the machine, or allowed by key and value."""
    if key == NODE_LABEL:
        return False
    if key in FOUND_LABELS or key.startswith(FOUND_PREFIX):
        return True
    values = allowed.labels.get(key, allowed.labels.get(ANYTHING, ()))
    return _listed(values, value)


def repository_allowed(allowed: Allowances, offered: str) -> bool:
    """Whether ``owner/repo``, ``owner/*`` or ``*`` lies within the lists; case does not count, as on the forge."""
    wanted = offered.lower()
    owner = f"{wanted.partition('/')[0]}/*"
    listed = {name.lower() for name in allowed.repositories}
    return bool({ANYTHING, wanted, owner} & listed) if wanted != ANYTHING else ANYTHING in listed


def _listed(names: Iterable[str], name: str) -> bool:
    return name in names or ANYTHING in names


def _union(held: Iterable[str], further: Iterable[str]) -> list[str]:
    names = {*held, *further}
    return [ANYTHING] if ANYTHING in names else sorted(names)


def _wrong(flag: str, value: str, rule: str) -> Invalid:
    return Invalid("invalid_field", f"--{flag} {value!r} is wrong: {rule}", details={"field": flag})


FLAGS = {
    "label": "--label",
    "adapter": "--adapter",
    "workspaceKind": "--workspace-kind",
    "repository": "--repository",
}


def _escalation(node: str, kind: str, name: str, **more: object) -> Refused:
    flag = f"{FLAGS[kind]} {name}" if kind in FLAGS else "--allow-override"
    command = f"manage.py credentials issue {node} {flag}"
    word = kind if kind in ("label", "adapter", "repository") else {"workspaceKind": "workspace kind"}.get(kind, kind)
    return Refused(
        "capability_escalation",
        f"the credential of {node} does not allow {word} {name}; widen it with: {command}",
        details={kind: name, "command": command, **more},
    )
