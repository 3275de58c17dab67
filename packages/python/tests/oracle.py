"""What a service has to return, by plain loops: the rules that the reference describes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

_STEPS = 1_000_000_000
_STEP = 2**-30


def relevance_score(query: Sequence[float], record: Sequence[float]) -> float:
    """Components of unit vectors in steps of 2^-30, their dot product in steps of 1e-9."""
    dot = sum(a * b for a, b in zip(_unit(query), _unit(record)))
    steps = (dot * _STEPS + (1 << 59)) >> 60
    return 1 if steps >= _STEPS - 64 else max(steps, 0) / 1e9


def _unit(vector: Sequence[float]) -> list[int]:
    squares = 0.0
    for component in vector:
        squares += component * component
    scale = 2**30 / math.sqrt(squares)
    return [int(math.copysign(math.floor(abs(component * scale) + 0.5), component)) for component in vector]


def satisfies(data: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a record passes a filter."""
    if "rules" in node:
        outcomes = [satisfies(data, rule) for rule in node["rules"]]
        return any(outcomes) if node.get("condition") == "OR" else all(outcomes)
    operator, operand = node["operator"], node.get("value")
    for positive, negative in (("", "not_"), ("is_empty", "is_not_empty")):
        if positive == "" and operator.startswith(negative):
            return not _holds(data.get(node["column"]), operator.removeprefix(negative), operand)
        if operator == negative:
            return not _holds(data.get(node["column"]), positive, operand)
    return _holds(data.get(node["column"]), operator, operand)


def _holds(value: Any, operator: str, operand: Any) -> bool:
    if operator == "is_empty":
        return value is None or value == "" or value == []
    values = value if isinstance(value, list) else [value]
    return any(_compares(each, operator, operand) for each in values)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    if operator == "equals":
        return _equal(value, operand)
    if operator == "in":
        return any(_equal(value, each) for each in operand)
    if operator in ("greater_than", "less_than", "greater_than_or_equals", "less_than_or_equals"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        comparisons: dict[str, bool] = {
            "greater_than": value > operand,
            "less_than": value < operand,
            "greater_than_or_equals": value >= operand,
            "less_than_or_equals": value <= operand,
        }
        return comparisons[operator]
    if not isinstance(value, str):
        return False
    text = str(operand)
    if operator == "contains":
        return text in value
    if operator == "starts_with":
        return value.startswith(text)
    if operator == "ends_with":
        return value.endswith(text)
    instant, other = _instant(value), _instant(text)
    if instant is None or other is None:
        return False
    return {
        "before": instant < other,
        "after": instant > other,
        "on_or_before": instant <= other,
        "on_or_after": instant >= other,
    }[operator]


def _equal(a: Any, b: Any) -> bool:
    a, b = (float(each) if type(each) is int else each for each in (a, b))
    return isinstance(a, bool) == isinstance(b, bool) and isinstance(a, str) == isinstance(b, str) and bool(a == b)


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d))?")


def _instant(text: str) -> tuple[float, int] | None:
    """Seconds and nanoseconds of a date or a time with a time zone."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, minute, second, fraction, zone = found.groups()
    try:
        time = datetime.fromisoformat(f"{day}T{minute or '00:00'}:{second or '00'}{(zone or 'Z').replace('Z', '+00:00')}")
    except ValueError:
        return None
    return time.astimezone(timezone.utc).timestamp(), int((fraction or "").ljust(9, "0"))


def sort_key(value: Any) -> tuple[int, Any]:
    """Booleans, then numbers, then texts by code points."""
    return (0, value) if isinstance(value, bool) else (1, value) if isinstance(value, (int, float)) else (2, value)
