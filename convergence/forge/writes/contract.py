"""How every write goes: look first where it was tried before, send once, read back, never repeat blindly."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from convergence.forge.client import ForgeClient
from convergence.forge.facts import PullRef
from runs.contract.errors import Invalid, Transient

READ_BACK_SECONDS = (5.0, 15.0, 30.0)  # pauses before the second, third and fourth look; the first is at once
LOST_FIRST_SECONDS, LOST_MOST_SECONDS = 5.0, 300.0  # pauses after a lost answer, doubling
KEY_DIGITS = 16
NOT_OBSERVED = "not_observed"


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of a write now.

    Final when ``again_after`` is ``None``. Else the same call is due again after that many seconds, with ``memory``,
    which is JSON and belongs into the record of the write.
    """

    outcome: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    again_after: float | None = None
    memory: Mapping[str, Any] = field(default_factory=dict)

    @property
    def final(self) -> bool:
        """Whether nothing more is to be done."""
        return self.again_after is None


@dataclass(frozen=True, slots=True)
class Target:
    """The pull request that is written to, by name for REST and by node id for everything else."""

    owner: str
    name: str
    number: int
    node_id: str

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return the target of stored arguments."""
        if not isinstance(value, Mapping):
            raise Invalid("invalid_effect", "the pull request of a write is missing")
        return cls(
            owner=text(value, "owner"),
            name=text(value, "name"),
            number=int(value["number"]),
            node_id=text(value, "node_id"),
        )

    @property
    def pull_path(self) -> str:
        """The REST path of the pull request."""
        return f"repos/{self.owner}/{self.name}/pulls/{self.number}"

    @property
    def issue_path(self) -> str:
        """The REST path of the conversation."""
        return f"repos/{self.owner}/{self.name}/issues/{self.number}"

    @property
    def ref(self) -> PullRef:
        """The same for the batched reading."""
        return PullRef(owner=self.owner, name=self.name, number=self.number, node_id=self.node_id)


class Write(Protocol):
    """One write with its arguments. ``memory`` is a dict of JSON values that lives as long as the write's record."""

    @property
    def looks_first(self) -> bool:
        """Whether the state is read before the first try too, because the write may be needless or wrong."""

    @property
    def resends(self) -> bool:
        """Whether it is sent again when an answer was lost and the read-back shows nothing."""

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:
        """Return the final outcome that GitHub shows, or ``None`` while it shows none; ``sent``: after a try."""

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:
        """Send once. Return a final outcome for an answer that means one, ``None`` when it was accepted."""

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:
        """Return the outcome after ``looks`` looks that showed nothing, or ``None`` to look once more.

        Clearing ``memory["accepted"]`` instead makes the next call send again, in another way.
        """


def run(client: ForgeClient, write: Write, *, earlier_try: bool, memory: Mapping[str, Any]) -> Observed:
    """Return what is known after this call; raises ``Transient`` where nothing is known and a later call decides."""
    kept = dict(memory)
    tried = earlier_try or bool(kept.get("sent"))
    if tried or write.looks_first:
        seen = write.observe(client, kept, sent=tried)
        if seen is not None:
            return seen
        if kept.get("accepted") or (tried and not write.resends):
            return _look_again(write, kept)
    kept["sent"] = int(kept.get("sent", 0)) + 1
    try:
        refused = write.send(client, kept)
    except Transient as error:
        if error.details.get("limited") or error.details.get("sent") is False:
            raise  # it never left
        pause = min(LOST_FIRST_SECONDS * 2 ** (kept["sent"] - 1), LOST_MOST_SECONDS)
        return Observed("lost_answer", {"error": error.message}, again_after=pause, memory=kept)
    if refused is not None:
        return refused
    kept["accepted"], kept["looks"] = True, 0
    try:
        seen = write.observe(client, kept, sent=True)
    except Transient as error:
        pause = max(READ_BACK_SECONDS[0], error.retry_after)
        return Observed("unseen", {"error": error.message}, again_after=pause, memory=kept)
    return seen if seen is not None else _look_again(write, kept)


def _look_again(write: Write, memory: dict[str, Any]) -> Observed:
    """Return the next look's pause after one that showed nothing, or the end of looking."""
    looks = int(memory.get("looks", 0)) + 1
    memory["looks"] = looks
    ended = write.unseen(looks, memory)
    if ended is not None:
        return ended
    pause = READ_BACK_SECONDS[min(looks, len(READ_BACK_SECONDS)) - 1]
    return Observed("unseen", again_after=pause, memory=memory)


def key_hash(key: str) -> str:
    """Return the hash of a dedupe key that stands in markers."""
    return hashlib.sha256(key.encode()).hexdigest()[:KEY_DIGITS]


def marker(key: str) -> str:
    """Return the invisible mark by which a text of ours is found again."""
    return f"<!-- factory:{key_hash(key)} -->"


def marked(body: str, key: str) -> str:
    """Return the text with its mark at the end."""
    return f"{body.rstrip()}\n\n{marker(key)}"


def text(arguments: Mapping[str, Any], name: str) -> str:
    """Return a text of stored arguments; ``Invalid`` ``invalid_effect`` if it is missing or blank."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Invalid("invalid_effect", f"a write lacks its {name}", details={"field": name})
    return value
