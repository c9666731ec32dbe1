"""What a repository declares about how its pull requests land: the block in its files, read strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from merging.decisions.words import word

FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*merge-protocol[ \t]*\n(?P<inside>.*?)^(?P=fence)`*~*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*')
SUCCESS = "success"
FRESH_RUNS = frozenset({"none", "ready", "reopen", "ready_or_reopen"})
LAND_METHODS = frozenset({"gh_merge", "admin", "mergify_queue", "ui"})
MERGE_METHODS = frozenset({"squash", "merge", "rebase"})
MERGIFY_COMMENT = "@mergifyio queue"
MOST_CHECKS = 100
MOST_TEXT = 1_000  # characters of a comment or link
KNOWN = frozenset({"requiredChecks", "waitForChecks", "freshHeadRun", "land", "trialCommand", "autoMerge", "doc"})
KNOWN_LAND = frozenset({"method", "comment", "mergeMethod"})


@dataclass(frozen=True, slots=True)
class DeclaredCheck:
    """A check that must have concluded with one of these words, from every producer of its name."""

    name: str
    accepted: frozenset[str] = frozenset({SUCCESS})


@dataclass(frozen=True, slots=True)
class Protocol:
    """A valid declaration; the defaults are those of a repository that declares nothing."""

    required_checks: tuple[DeclaredCheck, ...] = ()
    wait_for_checks: bool = False
    fresh_head_run: str = "none"
    land_method: str = "gh_merge"
    land_comment: str = MERGIFY_COMMENT
    merge_method: str = ""  # blank: the setting's
    trial_command: tuple[str, ...] = ()
    auto_merge: bool = True
    doc: str = ""

    def as_json(self) -> dict[str, Any]:
        """The declaration in the spelling of its file, complete."""
        return {
            "requiredChecks": [
                {"name": check.name, "acceptedConclusions": sorted(check.accepted)} for check in self.required_checks
            ],
            "waitForChecks": self.wait_for_checks,
            "freshHeadRun": self.fresh_head_run,
            "land": {
                "method": self.land_method,
                "comment": self.land_comment,
                **({"mergeMethod": self.merge_method} if self.merge_method else {}),
            },
            "trialCommand": list(self.trial_command),
            "autoMerge": self.auto_merge,
            **({"doc": self.doc} if self.doc else {}),
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """A declaration as read: the protocol, or what is wrong in one sentence; unknown fields are warnings."""

    protocol: Protocol | None = None
    error: str = ""
    warnings: tuple[str, ...] = field(default=())


class _Wrong(ValueError):
    """A known field with a wrong value; the message names it."""


def protocol_block(text: str) -> str | None:
    """The inside of the first fenced block whose info string is ``merge-protocol``; None without one."""
    found = FENCE.search(text.replace("\r\n", "\n"))
    return found["inside"] if found else None


def protocol_read(text: str) -> Reading:
    """Read a declaration; a text that does not parse is never "no declaration"."""
    try:
        document = json.loads(_uncommented(text))
    except ValueError as error:
        return Reading(error=f"it is not JSON: {error}"[:300])
    except RecursionError:
        return Reading(error="it is nested too deeply")
    return protocol_checked(document)


def protocol_checked(document: Any) -> Reading:
    """Read a declaration that is JSON already, as the rows hold it."""
    if not isinstance(document, dict):
        return Reading(error="it should be one object")
    try:
        protocol = _protocol(document)
    except _Wrong as error:
        return Reading(error=str(error)[:300])
    land = document.get("land")
    unknown = sorted(set(document) - KNOWN)
    unknown += [f"land.{name}" for name in sorted(set(land) - KNOWN_LAND)] if isinstance(land, dict) else []
    return Reading(protocol, warnings=tuple(f"unknown field {name[:80]}" for name in unknown[:20]))


def _uncommented(text: str) -> str:
    """Without ``//`` comments; one inside a string is text, as in an address."""
    return COMMENT_OR_TEXT.sub(lambda found: found[0] if found[0].startswith('"') else "", text)


def _protocol(document: Mapping[str, Any]) -> Protocol:
    land = document.get("land", {})
    if not isinstance(land, Mapping):
        raise _Wrong("land: it should be an object")
    return Protocol(
        required_checks=_checks(document.get("requiredChecks", [])),
        wait_for_checks=_flag(document, "waitForChecks", default=False),
        fresh_head_run=_choice(document, "freshHeadRun", FRESH_RUNS, "none"),
        land_method=_choice(land, "method", LAND_METHODS, "gh_merge", "land."),
        land_comment=_text(land, "comment", MERGIFY_COMMENT, "land."),
        merge_method=_choice(land, "mergeMethod", MERGE_METHODS, "", "land."),
        trial_command=_command(document.get("trialCommand", [])),
        auto_merge=_flag(document, "autoMerge", default=True),
        doc=_text(document, "doc", ""),
    )


def _checks(value: Any) -> tuple[DeclaredCheck, ...]:
    if not isinstance(value, list) or len(value) > MOST_CHECKS:
        raise _Wrong(f"requiredChecks: it should be a list of at most {MOST_CHECKS} checks")
    found: dict[str, DeclaredCheck] = {}
    for place, item in enumerate(value):
        named = {"name": item} if isinstance(item, str) else item
        name = named.get("name") if isinstance(named, Mapping) else None
        if not isinstance(named, Mapping) or not isinstance(name, str) or not name.strip():
            raise _Wrong(f"requiredChecks[{place}]: it should be a name, or an object with a name")
        accepted = named.get("acceptedConclusions", [SUCCESS])
        words = [word(each) for each in accepted] if isinstance(accepted, list) else []
        if not words or not all(words):
            raise _Wrong(f"requiredChecks[{place}].acceptedConclusions: it should be a list of conclusions")
        found[name.strip()] = DeclaredCheck(name.strip(), frozenset(words))
    return tuple(found.values())


def _flag(document: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = document.get(name, default)
    if not isinstance(value, bool):
        raise _Wrong(f"{name}: it should be true or false")
    return value


def _choice(document: Mapping[str, Any], name: str, choices: frozenset[str], default: str, inside: str = "") -> str:
    if name not in document:
        return default
    value = word(document[name])
    if value not in choices:
        raise _Wrong(f"{inside}{name}: it should be one of {', '.join(sorted(choices))}")
    return value


def _text(document: Mapping[str, Any], name: str, default: str, inside: str = "") -> str:
    value = document.get(name, default)
    if not isinstance(value, str) or len(value) > MOST_TEXT or (name in document and not value.strip()):
        raise _Wrong(f"{inside}{name}: it should be a text of 1 to {MOST_TEXT} characters")
    return value.strip()


def _command(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise _Wrong("trialCommand: it should be a list of arguments")
    return tuple(value)
