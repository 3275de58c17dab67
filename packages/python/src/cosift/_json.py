"""Values as JSON: what JSON can represent exactly, or an error that names the place; and JSON as values."""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ._codes import ErrorCode
from ._errors import CosiftError, refused

Path = tuple["str | int", ...]

# Integers up to here are exact as doubles, which the numbers of a service are.
_EXACT = 2**53


class Unsuitable(Exception):
    """A value that JSON cannot represent. ``path`` leads to it."""

    def __init__(self, detail: str, code: str = "wrong_type", path: Path = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.path = path

    def within(self, name: str | int) -> Unsuitable:
        return Unsuitable(self.detail, self.code, (name, *self.path))


def encoded(value: object, code_at: Callable[[Path], ErrorCode], whole: str, place: Path = ()) -> bytes:
    """Returns the JSON of a value.

    Dates and times with a time zone become text in ISO 8601, ``uuid.UUID`` becomes text, and the scalars and arrays of
    NumPy become numbers and lists.

    Raises ``CosiftError`` with the code that ``code_at`` gives for the place of what JSON cannot represent.
    """
    try:
        ready = plain(value)
        try:
            return json.dumps(ready, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise Unsuitable("half of a surrogate pair", "lone_surrogate", _half_pair(ready)) from None
    except Unsuitable as error:
        path = place + error.path
        code = "invalid_json" if error.code == "lone_surrogate" else code_at(path)
        if not path:
            raise CosiftError(code, f"{whole}: {error.detail}") from None
        raise refused(code, pointer_of(path), error.detail, error.code) from None
    except RecursionError:
        raise CosiftError(code_at(place), f"{whole}: is nested too deep, or contains itself") from None


def parsed(text: bytes) -> Any:
    """Returns the value of JSON from a service, whose numbers are doubles: it writes large ones with rounded digits."""
    return json.loads(text, parse_int=_parsed_integer)


def _parsed_integer(digits: str) -> int | float:
    value = int(digits)
    return value if -_EXACT <= value <= _EXACT else float(digits)


def pointer_of(path: Path) -> str:
    return "".join(f"/{str(name).replace('~', '~0').replace('/', '~1')}" for name in path)


def plain(value: object) -> Any:
    """Returns a value of the types that ``json`` writes exactly. Raises ``Unsuitable``."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return _integer(cast(int, value))
    if kind is float:
        return _number(cast(float, value))
    if isinstance(value, Mapping):
        return _object(cast("Mapping[object, object]", value))
    if kind is list or kind is tuple:
        return _list(cast("Sequence[object]", value))
    return _converted(value)


def _integer(value: int) -> int:
    if -_EXACT <= value <= _EXACT:
        return value
    try:
        if int(float(value)) == value:
            return value
    except OverflowError:
        pass
    raise Unsuitable(f"is {value}, which a double cannot hold exactly: use text")


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise Unsuitable(f"is {value}, must be a finite number")
    return value


def _object(value: Mapping[object, object]) -> dict[str, Any]:
    copy: dict[str, Any] = {}
    for name, member in value.items():
        if not isinstance(name, str):
            raise Unsuitable(f"the name {name!r} is of the type {_type_name(name)}, must be text")
        try:
            copy[name] = plain(member)
        except Unsuitable as error:
            raise error.within(name) from None
    return copy


def _list(value: Sequence[object]) -> list[Any]:
    copy: list[Any] = []
    for at, item in enumerate(value):
        try:
            copy.append(plain(item))
        except Unsuitable as error:
            raise error.within(at) from None
    return copy


def _converted(value: object) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, datetime.datetime):
        return _time(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    # The scalars and arrays of NumPy: booleans, integers, floats, text and objects.
    given: Any = value
    if getattr(getattr(given, "dtype", None), "kind", "-") in "biufUO" and hasattr(given, "tolist"):
        return plain(given.tolist())
    if isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray, memoryview)):
        return _list(cast("Sequence[object]", given))
    raise Unsuitable(f"is of the type {_type_name(value)}, which JSON cannot represent")


def _time(value: datetime.datetime) -> str:
    if value != value:  # noqa: PLR0124
        raise Unsuitable("is NaT: leave out what is missing")
    if value.utcoffset() is None:
        raise Unsuitable("is a time without a time zone: use one with, such as datetime.now(timezone.utc)")
    return value.isoformat().replace("+00:00", "Z")


def _half_pair(value: object) -> Path:
    """Returns the path to the first text that is not well formed."""
    if isinstance(value, dict):
        for name, member in cast("dict[str, object]", value).items():
            if _is_broken(name):
                return ()
            if _has_half_pair(member):
                return (name, *_half_pair(member))
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[object]", value)):
            if _has_half_pair(item):
                return (at, *_half_pair(item))
    return ()


def _has_half_pair(value: object) -> bool:
    return _is_broken(json.dumps(value, ensure_ascii=False))


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
