"""Rules and groups of rules, as filters of searches, queries, exports and deletions."""

from __future__ import annotations

from collections.abc import Sequence

from .types import Filter, FilterGroup, FilterRule


def and_(*rules: Filter) -> FilterGroup:
    """Every one of the rules has to hold."""
    return {"condition": "AND", "rules": rules}


def or_(*rules: Filter) -> FilterGroup:
    """At least one of the rules has to hold."""
    return {"condition": "OR", "rules": rules}


def equals(column: str, value: str | float | bool) -> FilterRule:
    """The column has exactly this value, of the same type: the number 1 is not the string "1"."""
    return {"column": column, "operator": "equals", "value": value}


def not_equals(column: str, value: str | float | bool) -> FilterRule:
    """The opposite of ``equals``. It also holds for a record without the column."""
    return {"column": column, "operator": "not_equals", "value": value}


def greater_than(column: str, value: float) -> FilterRule:
    """The column has a number greater than ``value``."""
    return {"column": column, "operator": "greater_than", "value": value}


def less_than(column: str, value: float) -> FilterRule:
    """The column has a number less than ``value``."""
    return {"column": column, "operator": "less_than", "value": value}


def greater_than_or_equals(column: str, value: float) -> FilterRule:
    """The column has a number greater than ``value``, or equal to it."""
    return {"column": column, "operator": "greater_than_or_equals", "value": value}


def less_than_or_equals(column: str, value: float) -> FilterRule:
    """The column has a number less than ``value``, or equal to it."""
    return {"column": column, "operator": "less_than_or_equals", "value": value}


def contains(column: str, value: str) -> FilterRule:
    """The column has a text that contains ``value``; case-sensitive."""
    return {"column": column, "operator": "contains", "value": value}


def not_contains(column: str, value: str) -> FilterRule:
    """The opposite of ``contains``. It also holds for a record without the column."""
    return {"column": column, "operator": "not_contains", "value": value}


def starts_with(column: str, value: str) -> FilterRule:
    """The column has a text that starts with ``value``; case-sensitive."""
    return {"column": column, "operator": "starts_with", "value": value}


def ends_with(column: str, value: str) -> FilterRule:
    """The column has a text that ends with ``value``; case-sensitive."""
    return {"column": column, "operator": "ends_with", "value": value}


def before(column: str, value: str) -> FilterRule:
    """The column has a text that is an earlier time than ``value``, an ISO 8601 date or time."""
    return {"column": column, "operator": "before", "value": value}


def after(column: str, value: str) -> FilterRule:
    """The column has a text that is a later time than ``value``."""
    return {"column": column, "operator": "after", "value": value}


def on_or_before(column: str, value: str) -> FilterRule:
    """The column has a text that is an earlier time than ``value``, or the same."""
    return {"column": column, "operator": "on_or_before", "value": value}


def on_or_after(column: str, value: str) -> FilterRule:
    """The column has a text that is a later time than ``value``, or the same."""
    return {"column": column, "operator": "on_or_after", "value": value}


def is_in(column: str, values: Sequence[str | float | bool]) -> FilterRule:
    """The column has exactly one of these values."""
    return {"column": column, "operator": "in", "value": values}


def is_not_in(column: str, values: Sequence[str | float | bool]) -> FilterRule:
    """The opposite of ``is_in``. It also holds for a record without the column."""
    return {"column": column, "operator": "not_in", "value": values}


def is_empty(column: str) -> FilterRule:
    """The record lacks the column, or its value is None, "" or an empty list."""
    return {"column": column, "operator": "is_empty"}


def is_not_empty(column: str) -> FilterRule:
    """The opposite of ``is_empty``: the column has a value."""
    return {"column": column, "operator": "is_not_empty"}
