"""Data frames in and out."""

from __future__ import annotations

import datetime
import math
import time
from typing import Any

import numpy
import pandas
import polars
import pytest
from pandas.testing import assert_frame_equal

from cosift import Client, CosiftError, to_pandas, to_polars

from .conftest import Create

ROWS = 100_000


def columns(rows: int) -> dict[str, list[Any]]:
    numbers = range(1, rows + 1)
    return {
        "id": list(numbers),
        "name": [f"record {n} ü😀" for n in numbers],
        "count": [n * 7 for n in numbers],
        "price": [n + 0.25 for n in numbers],
        "open": [n % 3 == 0 for n in numbers],
        "note": [f"note {n}" if n % 5 else None for n in numbers],
        "share": [n / 3 if n % 4 else None for n in numbers],
        "vector": [[1.0, n / rows] for n in numbers],
    }


@pytest.fixture(scope="module")
def table(client: Client) -> dict[str, list[Any]]:
    """As many rows as are measured for one client, and a part of them for the other."""
    return columns(ROWS if isinstance(client, Client) else ROWS // 10)


def test_the_rows_of_pandas_come_back_equal(create: Create, table: dict[str, list[Any]]) -> None:
    rows = len(table["id"])
    frame = pandas.DataFrame(table)
    database = create()
    started = time.perf_counter()
    result = database.upsert(frame, id="id", vector="vector")
    print(f"{rows} rows of pandas in: {time.perf_counter() - started:.1f} s", end=", ")
    assert (result["created"], database.describe()["records"]) == (rows, rows)
    assert "vector" not in next(database.export())["data"]
    started = time.perf_counter()
    back = to_pandas(database.export())
    print(f"out: {time.perf_counter() - started:.1f} s")
    assert_frame_equal(back, frame.drop(columns="vector"))


def test_the_rows_of_polars_come_back_equal(create: Create, table: dict[str, list[Any]]) -> None:
    frame = polars.DataFrame(table)
    database = create()
    database.upsert(frame, id="id", vector="vector")
    assert to_polars(database.export()).equals(frame.drop("vector"))


def test_a_frame_that_was_read_is_written_back_without_a_change(create: Create) -> None:
    database = create()
    table = columns(1_200)
    database.upsert(pandas.DataFrame(table), id="id", vector="vector")
    for convert in (to_pandas, to_polars):
        frame = convert(database.export(vectors=True), vector="vector")
        assert database.upsert(frame, id="id", vector="vector")["unchanged"] == 1_200


def test_missing_cells_are_left_out(create: Create) -> None:
    frame = pandas.DataFrame(
        {
            "float": [1.5, math.nan],
            "time": [pandas.Timestamp("2026-01-31"), pandas.NaT],
            "integer": pandas.array([7, None], dtype="Int64"),
            "boolean": pandas.array([True, None], dtype="boolean"),
            "text": ["a", None],
            "object": [[1, "a"], pandas.NA],
            "kind": pandas.Categorical(["a", None]),
            "vector": [numpy.array([1.0, 0.0]), numpy.array([0.0, 1.0])],
        }
    )
    database = create()
    database.upsert(frame, vector="vector")
    first, second = (record["data"] for record in database.export())
    assert second == {}
    assert first == {
        "float": 1.5,
        "time": "2026-01-31T00:00:00Z",
        "integer": 7,
        "boolean": True,
        "text": "a",
        "object": [1, "a"],
        "kind": "a",
    }
    nulls = polars.DataFrame({"a": [1, None], "b": ["x", None], "v": [[1.0, 0.0], [0.0, 1.0]]})
    database = create()
    database.upsert(nulls, vector="v")
    assert [record["data"] for record in database.export()] == [{"a": 1, "b": "x"}, {}]


def test_times_become_text_in_utc(create: Create) -> None:
    moment = datetime.datetime(2026, 1, 31, 12, 0, 0, 500)
    expected = {"naive": "2026-01-31T12:00:00.000500Z", "zone": "2026-01-31T11:00:00.000500Z", "day": "2026-01-31"}
    zoned = pandas.Series([moment]).dt.tz_localize("Europe/Berlin")
    frame = pandas.DataFrame({"naive": [moment], "zone": zoned, "day": [moment.date()], "vector": [[1, 0]]})
    database = create()
    database.upsert(frame, vector="vector")
    assert [record["data"] for record in database.export()] == [expected]
    other = polars.DataFrame({"naive": [moment], "zone": [moment], "day": [moment.date()], "vector": [[1, 0]]})
    other = other.with_columns(polars.col("zone").dt.replace_time_zone("Europe/Berlin"))
    database = create()
    database.upsert(other, vector="vector")
    assert [record["data"] for record in database.export()] == [expected]
    fine = polars.DataFrame({"t": polars.Series([1], dtype=polars.Datetime("ns")), "v": [[1, 0]]})
    database.upsert(fine, vector="v")
    assert list(database.export())[1]["data"] == {"t": "1970-01-01T00:00:00.000000001Z"}


@pytest.mark.parametrize(
    ("frame", "place", "told"),
    [
        (pandas.DataFrame({"v": [1.0, math.inf]}), "/records/1/data/v", "is inf"),
        (polars.DataFrame({"v": [1.0, math.nan]}), "/records/1/data/v", "is nan"),
        (pandas.DataFrame({"v": pandas.to_timedelta([1, 2])}), "/records/0/data/v", "Timedelta"),
        (polars.DataFrame({"v": [datetime.timedelta(1)]}), "/records/0/data/v", "timedelta"),
        (pandas.DataFrame({"v": [2**53 + 1]}), "/records/0/data/v", "a double cannot hold exactly"),
        (pandas.DataFrame({"v": [b"x"]}), "/records/0/data/v", "of the type bytes"),
        (pandas.DataFrame({"v": [None, datetime.datetime(2026, 1, 31)]}, dtype=object), "/records/1/data/v", "time zone"),
        (polars.DataFrame({"v": [{"a": 1}]}), "/records/0/data/v", "not an object"),
        (pandas.DataFrame({1: ["x"]}), "/records", "whose name is no text"),
        (pandas.DataFrame([["x", "y"]], columns=["a", "a"]), "/records", "two columns with the name 'a'"),
        (pandas.DataFrame({"v": ["x"]}, index=pandas.Index(["y"], name="name")), "/records", "use reset_index()"),
        (polars.LazyFrame({"v": [1]}), "/records", "collect()"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_row_and_column(create: Create, frame: Any, place: str, told: str) -> None:
    database = create(embed={"columns": ["text"]})
    with pytest.raises(CosiftError) as refusal:
        database.upsert(frame)
    assert told in refusal.value.detail
    assert refusal.value.problems[0]["pointer"] == place
    assert database.describe()["records"] == 0


def test_the_columns_of_members_must_be_there(create: Create) -> None:
    database = create(embed={"columns": ["text"]})
    frame = pandas.DataFrame({"n": [1, None], "text": ["a", "b"]})
    cases: list[tuple[dict[str, Any], str]] = [
        ({"id": "none"}, "/id"),
        ({"key": "text", "vector": "none"}, "/vector"),
        ({"id": "n"}, "/records/1/id"),
    ]
    for options, place in cases:
        with pytest.raises(CosiftError) as refusal:
            database.upsert(frame, **options)
        assert refusal.value.problems[0]["pointer"] == place
    with pytest.raises(CosiftError, match="is no data frame"):
        database.upsert([], id="n")
    assert database.upsert(frame[:1], id="n")["results"][0]["id"] == 1
    assert database.upsert(frame, key="text")["results"][1].get("key") == "b"
    assert to_pandas(database.export(), id=None, key="key")["key"].tolist()[1:] == ["a", "b"]


def test_a_frame_replaces_all_records(create: Create) -> None:
    database = create()
    database.upsert(pandas.DataFrame(columns(20)), id="id", vector="vector")
    replaced = database.replace_all(polars.DataFrame(columns(20))[:18], id="id", vector="vector")
    assert (replaced["unchanged"], replaced["deleted"]) == (18, 2)


def test_rows_are_taken_by_their_position(create: Create) -> None:
    database = create()
    frame = pandas.DataFrame(columns(2_500)).set_index(pandas.Index([float(n) for n in range(2_500, 0, -1)]))
    assert database.upsert(frame, id="id", vector="vector")["created"] == 2_500
    assert [record["id"] for record in database.export()] == list(range(1, 2_501))


def test_results_have_their_scores(create: Create) -> None:
    database = create()
    database.upsert(pandas.DataFrame({"id": [1, 2], "n": [1, 2], "v": [[1, 0], [1, 1]]}), id="id", vector="v")
    frame = to_pandas(database.search_all({"vector": [1, 0]}))
    assert frame["relevance_score"].tolist() == [1, 0.707106781]
    assert frame["n"].tolist() == [1, 2]
    assert to_polars(database.search({"vector": [1, 0]})["results"])["relevance_score"].to_list() == [1, 0.707106781]


def test_names_that_collide_and_columns_of_many_types_are_refused(create: Create) -> None:
    database = create()
    database.upsert([{"id": n, "data": {"id": n, "mixed": value}, "vector": [1, 0]} for n, value in ((1, "a"), (2, 3))])
    with pytest.raises(CosiftError, match="column 'id', too"):
        to_pandas(database.export())
    assert to_pandas(database.export(), id="record").columns.tolist() == ["record", "id", "mixed"]
    with pytest.raises(CosiftError, match="'mixed' has values of different types: int, str"):
        to_polars(database.export(), id=None)
    assert to_polars([]).columns == ["id"]
