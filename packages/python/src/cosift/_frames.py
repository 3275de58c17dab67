"""Data frames of pandas and polars as records, and records as data frames. Neither is imported before it is used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ._errors import refused

if TYPE_CHECKING:
    import pandas
    import polars

    from .types import StoredRecord

_ROWS = 1_000


def records_of(frame: object, *, id: str | None, key: str | None, vector: str | None) -> Iterator[dict[str, object]] | None:
    """Returns the rows of a data frame as records; None for what is no data frame."""
    modules = {name: sys.modules.get(name) for name in ("pandas", "polars")}
    for name, module in modules.items():
        if module is not None and isinstance(frame, module.DataFrame):
            part = _pandas_part if name == "pandas" else _polars_part
            return _records(cast(Any, frame), part, {"id": id, "key": key, "vector": vector})
    polars = modules["polars"]
    if polars is not None and isinstance(frame, polars.LazyFrame):
        raise refused("invalid_request", "/records", "is a LazyFrame: pass its collect()")
    if (id, key, vector) != (None, None, None):
        raise refused("invalid_request", "/records", "is no data frame, so `id`, `key` and `vector` name no columns")
    return None


# The cells of each column in rows from a number on.
Part = Callable[[Any, int], "list[list[Any]]"]


def _records(frame: Any, part: Part, members: Mapping[str, str | None]) -> Iterator[dict[str, object]]:
    names: list[object] = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            detail = f"has the column {name!r}, whose name is no text: rename it"
            raise refused("invalid_request", "/records", detail)
        if names.count(name) > 1:
            raise refused("invalid_request", "/records", f"has two columns with the name {name!r}")
    by_column = {column: member for member, column in members.items() if column is not None}
    for column, member in by_column.items():
        if column not in names:
            raise refused("invalid_request", f"/{member}", f"the data frame has no column {column!r}")
    for start in range(0, len(frame), _ROWS):
        columns = [(str(name), cells) for name, cells in zip(names, part(frame, start))]
        for at in range(min(_ROWS, len(frame) - start)):
            data: dict[str, object] = {}
            record: dict[str, object] = {}
            for name, cells in columns:
                cell = cells[at]
                if name not in by_column:
                    if cell is not None:
                        data[name] = cell
                    continue
                member = by_column[name]
                if cell is not None:
                    record[member] = int(cell) if isinstance(cell, float) and cell.is_integer() else cell
                elif member != "vector":
                    raise refused("invalid_record", f"/records/{start + at}/{member}", f"is missing in {name!r}")
            record["data"] = data
            yield record


def _pandas_part(frame: Any, start: int) -> list[list[Any]]:
    for name in frame.index.names:
        if name is not None:
            raise refused("invalid_request", "/records", f"has the index {name!r}, which is no column: use reset_index()")
    rows = frame.iloc[start : start + _ROWS]
    return [_pandas_cells(rows[name]) for name in rows.columns]


def _polars_part(frame: Any, start: int) -> list[list[Any]]:
    return [_polars_cells(series) for series in frame.slice(start, _ROWS)]


def _pandas_cells(series: Any) -> list[Any]:
    """The cells of a column; None is a missing one: NaN, NaT, NA or None."""
    if getattr(series.dtype, "kind", "") == "M":
        # pandas counts times without a time zone in UTC.
        times = series if getattr(series.dt, "tz", None) is None else series.dt.tz_convert("UTC").dt.tz_localize(None)
        cells = [f"{time.isoformat()}Z" if time == time else None for time in times.tolist()]
    else:
        cells = series.tolist()
    return [None if missing else cell for cell, missing in zip(cells, series.isna().tolist())]


def _polars_cells(series: Any) -> list[Any]:
    if type(series.dtype).__name__ == "Datetime":
        zone = series.dtype.time_zone
        times = series if zone is None else series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return [text and f"{text}Z" for text in times.dt.strftime("%Y-%m-%dT%H:%M:%S%.f").to_list()]
    return cast("list[Any]", series.to_list())


def to_pandas(
    records: Iterable[StoredRecord], *, id: str | None = "id", key: str | None = None, vector: str | None = None
) -> pandas.DataFrame:
    """Returns records as a data frame of pandas, with a column for each column of their ``data``.

    ``id``, ``key`` and ``vector`` name the columns for these members of the records; None leaves a member out. The results
    of a search also have the column ``relevance_score``. What a record lacks is missing in its row.

    >>> frame = to_pandas(database.export())
    >>> database.upsert(frame, id="id")
    """
    import pandas

    return pandas.DataFrame(_table(records, {"id": id, "key": key, "vector": vector}))


def to_polars(
    records: Iterable[StoredRecord], *, id: str | None = "id", key: str | None = None, vector: str | None = None
) -> polars.DataFrame:
    """Returns records as a data frame of polars, as ``to_pandas`` does.

    A column of numbers has the type ``Int64`` if all are integers, otherwise ``Float64``.

    Raises ``CosiftError`` with the code ``invalid_request`` for a column with values of different types, which polars
    cannot have.
    """
    import polars

    table = _table(records, {"id": id, "key": key, "vector": vector})
    return polars.DataFrame(
        [polars.Series(name, cells, dtype=_polars_type(polars, name, cells)) for name, cells in table.items()]
    )


def _table(records: Iterable[StoredRecord], members: Mapping[str, str | None]) -> dict[str, list[Any]]:
    wanted = {member: column for member, column in members.items() if column is not None}
    table: dict[str, list[Any]] = {column: [] for column in wanted.values()}
    if len(table) < len(wanted):
        raise refused("invalid_request", "/id", "two members have a column of the same name")
    own = set(table)
    rows = 0
    for record in records:
        given = cast("Mapping[str, Any]", record)
        if "relevance_score" in given and "relevance_score" not in own:
            own.add("relevance_score")
        for member, column in wanted.items():
            table[column].append(given.get(member))
        for name in own - set(wanted.values()):
            _cells(table, name, rows).append(given.get(name))
        for name, value in record["data"].items():
            if name in own:
                detail = f"the records have a column {name!r}, too: give another name"
                raise refused("invalid_request", f"/{name if name in members else 'records'}", detail)
            _cells(table, name, rows).append(value)
        rows += 1
        for cells in table.values():
            if len(cells) < rows:
                cells.append(None)
    return table


def _cells(table: dict[str, list[Any]], name: str, rows: int) -> list[Any]:
    cells = table.get(name)
    if cells is None:
        cells = table[name] = [None] * rows
    return cells


def _polars_type(polars: Any, name: str, cells: Iterable[Any]) -> Any:
    kinds: set[type] = {type(cell) for cell in cells if cell is not None}
    if kinds == {list}:
        return polars.List(_polars_type(polars, name, (item for cell in cells if cell is not None for item in cell)))
    if kinds == {int}:
        # Numbers of a service are doubles, so a larger one is exact as such.
        return polars.Int64 if all(cell is None or -(2**63) <= cell < 2**63 for cell in cells) else polars.Float64
    types: dict[frozenset[type], Any] = {
        frozenset(): polars.Null,
        frozenset({float}): polars.Float64,
        frozenset({int, float}): polars.Float64,
        frozenset({str}): polars.String,
        frozenset({bool}): polars.Boolean,
    }
    found = types.get(frozenset(kinds))
    if found is None:
        told = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise refused("invalid_request", "/records", f"the column {name!r} has values of different types: {told}")
    return found
