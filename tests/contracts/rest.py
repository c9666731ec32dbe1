"""REST requests and answers against GitHub's published OpenAPI description."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

HERE = Path(__file__).parent


class ContractError(AssertionError):
    """A request or answer that GitHub's contract does not have; the message says where and why."""


@cache
def description() -> dict[str, Any]:
    """The whole description, OpenAPI 3.0's `nullable` written as JSON Schema understands it."""
    document = json.loads((HERE / "github-rest.json").read_text(encoding="utf-8"))
    converted: dict[str, Any] = _nullable(document)
    return converted


def _nullable(node: Any) -> Any:
    """Allow null where `nullable` says so, also beside an enum, a $ref or a combination."""
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _nullable(value) for key, value in node.items() if key not in ("nullable", "discriminator")}
    # Only a schema has a boolean `nullable`; a property may be called so.
    if node.get("nullable") is not True:
        return made
    return {"anyOf": [{"type": "null"}, made]}


@cache
def _operation(method: str, path: str) -> dict[str, Any] | None:
    """The operation of a path without query; the more literal template wins."""
    found: list[tuple[int, int, dict[str, Any]]] = []
    for template, methods in description()["paths"].items():
        row = methods.get(method.lower())
        if row and _pattern(template, row).fullmatch(path):
            found.append((template.count("{"), -len(template), row))
    return min(found, key=lambda row: row[:2])[2] if found else None


def _pattern(template: str, row: dict[str, Any]) -> re.Pattern[str]:
    """What a template matches; branches and file paths may hold slashes."""
    many = {"ref"} | {p["name"] for p in row.get("parameters", []) if p.get("x-multi-segment")}
    parts = re.split(r"\{(\w+)\}", template)
    text = "".join(re.escape(p) if n % 2 == 0 else ".+" if p in many else "[^/]+" for n, p in enumerate(parts))
    return re.compile(text)


def operation(method: str, path: str) -> dict[str, Any]:
    """The operation of a request; ContractError when GitHub has none."""
    row = _operation(method, path.partition("?")[0])
    if row is None:
        raise ContractError(f"GitHub has no operation {method} {path}")
    return row


@cache
def _validator(schema: str) -> Any:
    whole = {**json.loads(schema), "components": description()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def _hold(schema: dict[str, Any], value: Any, what: str) -> None:
    errors = list(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value))
    if errors:
        said = "; ".join(f"/{'/'.join(map(str, e.instance_path))}: {e.message[:300]}" for e in errors[:5])
        raise ContractError(f"{what}: {said}")


def _content(part: dict[str, Any]) -> dict[str, Any] | None:
    content = part.get("content", {})
    chosen = content.get("application/json") or next(iter(content.values()), None)
    return chosen.get("schema") if chosen else None


def _resolved(part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    found: Any = description()
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return dict(found)


def validate_request(method: str, path: str, body: Any = None) -> None:
    """Hold a request against its operation: path, body, and no key that the operation does not name."""
    row = operation(method, path)
    wanted = _resolved(row.get("requestBody", {}))
    schema = _content(wanted)
    if body is None:
        if wanted.get("required"):
            raise ContractError(f"{method} {path} needs a body")
        return
    if schema is None:
        raise ContractError(f"{method} {path} takes no body")
    _hold(schema, body, f"request {method} {path}")
    known = _properties(schema)
    unknown = set(body) - known if known and isinstance(body, dict) else set()
    if unknown:
        raise ContractError(f"request {method} {path} has the unknown keys {sorted(unknown)}")


def _properties(schema: dict[str, Any]) -> set[str]:
    schema = _resolved(schema)
    found = set(schema.get("properties", {}))
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(key, []):
            found |= _properties(inner)
    return found


def validate_answer(method: str, path: str, status: int, body: Any = None) -> None:
    """Hold an answer against its operation: a status that is described there, and the body of that status.

    401, 403, 404, 429 and 5xx are common to all operations: where one names none, GitHub's plain error is taken.
    """
    responses = operation(method, path)["responses"]
    part = responses.get(str(status))
    if part is None:
        if status in (301, 304, 401, 403, 404, 429) or status >= 500:
            part = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/basic-error"}}}}
        else:
            raise ContractError(f"{method} {path} does not answer {status}")
    schema = _content(_resolved(part))
    if schema is None or status == 304:
        return
    _hold(schema, body, f"answer {status} of {method} {path}")
