"""What a supervisor does next: a pure function of counts, and the line by which it can be recomputed."""

from dataclasses import dataclass, fields
from enum import StrEnum

STUCK_SECONDS = 15  # an idle worker takes a waiting run within a second; longer means that it does not


class Action(StrEnum):
    """What one tick may do."""

    SPAWN = "spawn"
    DRAIN = "drain"
    UNDRAIN = "undrain"
    REPLACE = "replace"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Decision:
    """One action and why."""

    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the decision reads. ``claimable`` is None while the control plane's counts are unknown.

    ``idle`` and ``busy`` are own live workers that are not draining; ``pool``, ``pending`` and ``draining`` come from
    the run folder. ``surplus`` and ``stuck`` are whole seconds since idle workers have had nothing to take, and since
    they have left work untaken. ``reload``: a worker left to be started again on new code; ``backoff``: workers crashed
    and a pause runs.
    """

    claimable: int | None = 0
    idle: int = 0
    busy: int = 0
    pool: int = 0
    pending: int = 0
    draining: int = 0
    min: int = 1
    max: int = 3
    surplus: int = 0
    stuck: int = 0
    cool_down: int = 60
    reload: bool = False
    backoff: bool = False

    @property
    def remaining(self) -> int:
        """Workers that will still be there when those that leave have left."""
        return self.pool - self.draining


def pool_decision(facts: Facts) -> Decision:
    """The first rule that fits; a spawn becomes a hold while the pause after crashes runs."""
    decision = _bounds_rule(facts) or _work_rule(facts)
    if decision.action is Action.SPAWN and facts.backoff:
        return Decision(Action.HOLD, "crash_backoff")
    return decision


def _bounds_rule(facts: Facts) -> Decision | None:
    """What the bounds alone demand, whatever the counts say."""
    below = facts.remaining < facts.min
    if facts.reload and facts.pool < facts.max:
        return Decision(Action.SPAWN, "reload")
    if facts.claimable is None and not below:
        return Decision(Action.HOLD, "control_plane_unreachable")
    if below:
        return Decision(Action.UNDRAIN if facts.draining else Action.SPAWN, "below_min")
    if facts.remaining > facts.max:
        return Decision(Action.DRAIN, "above_max")
    return None


def _work_rule(facts: Facts) -> Decision:
    """What the work demands, within the bounds and with known counts."""
    if facts.pending:
        return Decision(Action.HOLD, "starting")
    room = facts.pool < facts.max
    if facts.claimable and not facts.idle:
        if facts.draining:
            return Decision(Action.UNDRAIN, "work_waiting")
        return Decision(Action.SPAWN, "work_waiting") if room else Decision(Action.HOLD, "at_max")
    if facts.claimable and facts.stuck >= STUCK_SECONDS and room:
        return Decision(Action.SPAWN, "idle_not_taking")
    if not facts.claimable and facts.idle and facts.remaining > facts.min:
        cooled = facts.surplus >= facts.cool_down
        return Decision(Action.DRAIN, "idle_surplus") if cooled else Decision(Action.HOLD, "cooling_down")
    return Decision(Action.HOLD, "steady")


def facts_line(facts: Facts) -> str:
    """Every fact as ``name=value``; `facts_of` reads it back."""
    return " ".join(f"{each.name}={_shown(getattr(facts, each.name))}" for each in fields(facts))


def facts_of(line: str) -> Facts:
    """The facts that a line of the log carries among its other words."""
    said = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return Facts(**{each.name: _read(said[each.name], each.type) for each in fields(Facts)})  # type: ignore[arg-type]


def _shown(value: object) -> str:
    if value is None:
        return "unknown"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _read(text: str, kind: object) -> int | None:
    if kind is bool:
        return text == "yes"
    return None if text == "unknown" else int(text)
