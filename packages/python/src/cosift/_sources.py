"""What a caller may give to be written: sources that are read item by item. ``Async`` marks one of a pair."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._errors import refused
from .types import NewRecord

if TYPE_CHECKING:
    import pandas
    import polars

# Records to write: dicts from any source, or a data frame.
Records = Union[Iterable[NewRecord], Iterable[Mapping[str, Any]], "pandas.DataFrame", "polars.DataFrame"]
AsyncRecords = Union[Records, AsyncIterable[NewRecord], AsyncIterable[Mapping[str, Any]]]

# NDJSON in pieces, such as an open file.
Chunks = Union[bytes, str, Iterable[Union[bytes, str]]]
AsyncChunks = Union[Chunks, AsyncIterable[Union[bytes, str]]]


def each(source: object, name: str) -> Iterator[Any]:
    """Returns the items of a source, which is the argument ``name``."""
    kind = type(source)
    items: Any = source
    if hasattr(items, "__iter__") and not issubclass(kind, (str, bytes, Mapping)):
        return iter(items)
    detail = f"is of the type {kind.__name__}, must be a list or another iterable"
    raise refused("invalid_request", f"/{name}", detail)


async def async_each(source: object, name: str) -> AsyncIterator[Any]:
    """Yields the items of a source, which may be asynchronous."""
    items: Any = source
    if hasattr(items, "__aiter__"):
        async for item in items:
            yield item
    else:
        for item in each(source, name):
            yield item
