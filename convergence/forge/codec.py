"""Frozen fact dataclasses to plain JSON values and back, driven by their type hints.

Covers what facts are made of: dataclasses (also generic ones), tuples, optional values, enums, instants and plain
scalars. Instants are ISO 8601 with their offset. A value of another shape raises ``Invalid`` ``bad_snapshot``.
"""

import dataclasses
import types
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from runs.contract.errors import Invalid


def to_json(value: Any) -> Any:
    """Return ``value`` as something that ``json.dumps`` takes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return value


def from_json(hint: Any, value: Any) -> Any:
    """Return the object of type ``hint`` that ``to_json`` turned into ``value``; unknown keys are ignored."""
    try:
        return _decode(hint, value, {})
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid("bad_snapshot", f"a stored snapshot does not fit its shape: {error}") from error


def _decode(hint: Any, value: Any, bound: Mapping[TypeVar, Any]) -> Any:
    hint = bound.get(hint, hint) if isinstance(hint, TypeVar) else hint
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        members = [arm for arm in get_args(hint) if arm is not type(None)]
        return _decode(members[0], value, bound)
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return tuple(_decode(get_args(hint)[0], item, bound) for item in value)
    target = origin or hint
    if dataclasses.is_dataclass(target) and isinstance(target, type):
        return _decode_dataclass(target, get_args(hint), value, bound)
    if isinstance(target, type) and issubclass(target, Enum):
        return target(value)
    if target is datetime:
        return datetime.fromisoformat(value)
    if isinstance(target, type) and not isinstance(value, target):
        raise TypeError(f"expected {target.__name__}, got {type(value).__name__}")
    return value


def _decode_dataclass(target: type, args: tuple[Any, ...], value: Any, bound: Mapping[TypeVar, Any]) -> Any:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object for {target.__name__}, got {type(value).__name__}")
    resolved = tuple(bound.get(arg, arg) if isinstance(arg, TypeVar) else arg for arg in args)
    inner = dict(zip(getattr(target, "__parameters__", ()), resolved, strict=False))
    hints = get_type_hints(target)
    names = [field.name for field in dataclasses.fields(target)]
    return target(**{name: _decode(hints[name], value[name], inner) for name in names if name in value})
