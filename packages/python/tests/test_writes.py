"""Upserts, patches, conditions, streams of lines, replacements, deletions and exports."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Iterator
from typing import Any, cast

import pytest

from cosift import Client, CosiftError, Database
from cosift.filters import equals

from .conftest import Create
from .service import ROOT

GOLDEN = json.loads((ROOT / "test" / "golden" / "records.json").read_text())

# What only the text of a record can have.
BEYOND_VALUES = {"malformed_json", "duplicate_member", "number_out_of_range", "too_deep"}


def points(*ids: int, **data: Any) -> list[dict[str, Any]]:
    return [{"id": id, "data": {"n": id, **data}, "vector": [1, id]} for id in ids]


def ids(database: Database) -> list[int]:
    return [record["id"] for record in database.export()]


def test_an_upsert_tells_what_happened_to_each_record(create: Create) -> None:
    database = create()
    first = database.upsert(points(1, 2))
    assert [result["status"] for result in first["results"]] == ["created", "created"]
    again = database.upsert([*points(1), *points(2, colour="red"), *points(3)])
    assert [result["status"] for result in again["results"]] == ["unchanged", "changed", "created"]
    assert (again["created"], again["changed"], again["unchanged"]) == (1, 1, 1)
    assert again["started_at"] >= first["started_at"]
    assert database.upsert([])["results"] == []


def test_records_are_written_in_batches(create: Create) -> None:
    database = create()
    progress: list[int] = []
    result = database.upsert(iter(points(*range(1, 2_501))), on_progress=progress.append)
    assert progress == [1_000, 2_000, 2_500]
    assert [record["id"] for record in result["results"]] == list(range(1, 2_501))
    assert result["created"] == database.describe()["records"] == 2_500


def test_a_batch_ends_before_it_is_too_large(create: Create) -> None:
    database = create()
    progress: list[int] = []
    text = "x" * 900_000
    database.upsert(
        ({"id": n, "data": {"t": text}, "vector": [1, 0]} for n in range(1, 25)), on_progress=progress.append
    )
    assert len(progress) == 2 and progress[-1] == 24


def test_an_error_names_the_record_among_all(create: Create) -> None:
    database = create()
    wrong: list[dict[str, Any]] = points(*range(1, 1_501))
    wrong[1_200]["vector"] = [1, 2, 3]
    with pytest.raises(CosiftError) as refusal:
        database.upsert(wrong)
    assert refusal.value.problems[0]["pointer"] == "/records/1200/vector"
    assert refusal.value.detail.startswith("/records/1200/vector: ")
    assert refusal.value.fields["committed"] == database.describe()["records"] == 1_000
    wrong[1_200] = {"id": 1, "data": {"a/b": {1: float("nan")}}}
    with pytest.raises(CosiftError) as refusal:
        database.upsert(wrong)
    assert refusal.value.problems[0]["pointer"] == "/records/1200/data/a~1b"
    assert refusal.value.fields["committed"] == 1_000


def test_a_failure_of_the_source_is_raised_as_it_is(create: Create) -> None:
    def source() -> Iterator[dict[str, Any]]:
        yield from points(*range(1, 1_002))
        raise LookupError("the end of the source")

    database = create()
    with pytest.raises(LookupError, match="the end of the source"):
        database.upsert(source())
    assert database.describe()["records"] == 1_000


def test_data_keeps_its_types_its_order_and_its_nulls(create: Create) -> None:
    database = create()
    data: dict[str, Any] = {
        "z": "Zürich \U0001f600 \x00\t\"\\",
        "a": 0.1 + 0.2,
        "big": 2**53,
        "exact": 2**60,
        "no": False,
        "null": None,
        "list": ["a", 1, True],
        "__proto__": "x",
    }
    database.upsert([{"id": 1, "data": data, "vector": [1, 0]}])
    record = database.get(1)
    assert record is not None
    assert list(record["data"].items()) == list(data.items())
    # Larger integers come back as what they are in the service.
    assert [type(record["data"][name]) for name in ("big", "exact")] == [int, float]


def test_dates_times_and_uuids_become_text(create: Create) -> None:
    database = create()
    zone = datetime.timezone(datetime.timedelta(hours=2))
    given = uuid.UUID("0190a0b2-0000-7000-8000-000000000000")
    record: Any = {
        "uuid": given,
        "data": {
            "day": datetime.date(2026, 1, 31),
            "utc": datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc),
            "zone": datetime.datetime(2026, 1, 31, 12, 0, 0, 500, tzinfo=zone),
        },
        "vector": (1, 0),
    }
    database.upsert([record])
    stored = database.get(given)
    assert stored is not None and stored["data"] == {
        "day": "2026-01-31",
        "utc": "2026-01-31T12:00:00Z",
        "zone": "2026-01-31T12:00:00.000500+02:00",
    }


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "is nan"),
        (float("-inf"), "is -inf"),
        (2**53 + 1, "a double cannot hold exactly"),
        (10**400, "a double cannot hold exactly"),
        (datetime.datetime(2026, 1, 31), "without a time zone"),
        (datetime.time(12), "of the type datetime.time"),
        (datetime.timedelta(1), "of the type datetime.timedelta"),
        (b"bytes", "of the type bytes"),
        ({1, 2}, "of the type set"),
        (1j, "of the type complex"),
        (object(), "of the type object"),
        ("\ud83d", "half of a surrogate pair"),
        ([1, ["\udc00"]], "half of a surrogate pair"),
        ({1: 2}, "must be text"),
        ({"a": 1}, "not an object"),
        ([None], "not null"),
    ],
)
def test_what_json_cannot_represent_is_refused_with_its_place(create: Create, value: Any, told: str) -> None:
    database = create()
    with pytest.raises(CosiftError) as refusal:
        database.upsert([*points(1), {"id": 2, "data": {"v": value}, "vector": [1, 0]}])
    assert told in refusal.value.detail
    assert refusal.value.problems[0]["pointer"].startswith("/records/1/data/v")
    assert refusal.value.code in ("invalid_record", "invalid_json")
    assert ids(database) == []


def test_the_golden_records_are_taken_or_refused_at_their_place(create: Create) -> None:
    database = create()
    compared = 0
    for at, case in enumerate(GOLDEN):
        if BEYOND_VALUES & {problem["code"] for problem in case["problems"]}:
            continue
        record: Any = json.loads(case["text"])
        if isinstance(record, dict):
            # The cases tell neither the vector that this database needs nor always an identity.
            identity = {} if {"id", "uuid", "key"} & set(record) else {"id": 1_000 + at}
            record = {"vector": [1, 0], **identity, **record}
        refused: list[str] = []
        try:
            database.upsert([record])
        except CosiftError as error:
            # What depends on other records, and on the database.
            if error.code in ("identity_conflict", "invalid_dimensions", "precondition_failed"):
                continue
            refused = [problem["pointer"] for problem in error.problems]
        assert bool(refused) == bool(case["problems"]), case["name"]
        places = [f"/records/0{problem['pointer']}" for problem in case["problems"]]
        assert not refused or refused[0] in places, case["name"]
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("records", [3, None, "text", b"bytes", {"id": 1, "data": {}}])
def test_records_are_an_iterable(create: Create, records: Any) -> None:
    with pytest.raises(CosiftError, match="^/records: is of the type"):
        create().upsert(records)


def test_a_record_is_a_dict(create: Create) -> None:
    with pytest.raises(CosiftError, match="^/records/1: is of the type list, must be a dict"):
        create().upsert(cast(Any, [*points(1), [2]]))


def test_records_are_read_by_each_identity(create: Create) -> None:
    database = create()
    written = database.upsert([{"key": "a/b ü", "data": {"n": 1}, "vector": [1, 0]}])["results"][0]
    for id in (written["id"], written["uuid"], "key:a/b ü", uuid.UUID(written["uuid"])):
        record = database.get(id)
        assert record is not None and record["data"] == {"n": 1}
    assert database.get(99) is None
    found = database.get_many([99, written["id"], "key:none"])
    assert [record and record["id"] for record in found] == [None, written["id"], None]
    with pytest.raises(CosiftError) as refusal:
        database.get("no id")
    assert refusal.value.status == 400


def test_a_batch_without_identities_gets_them_before_it_is_sent(create: Create) -> None:
    database = create()
    (first, second) = database.upsert([{"data": {}, "vector": [1, 0]} for _ in range(2)])["results"]
    assert uuid.UUID(first["uuid"]).version == 7 and first["uuid"] != second["uuid"]


def test_patches_set_keep_and_remove_columns(create: Create) -> None:
    database = create()
    database.upsert(points(1, a="x", b="y"))
    record = database.patch(1, {"b": None, "c": True})
    assert record["data"] == {"n": 1, "a": "x", "c": True}
    for id, changes, code in ((9, {"a": 1}, "record_not_found"), (1, {"a": float("nan")}, "invalid_record"), (1, 3, "invalid_record")):
        with pytest.raises(CosiftError) as refusal:
            database.patch(id, changes)  # type: ignore[arg-type]
        assert refusal.value.code == code
    with pytest.raises(CosiftError) as refusal:
        database.patch(1, {"price": {}})
    assert refusal.value.problems[0]["pointer"] == "/data/price"


def test_conditions_change_what_was_read_and_nothing_else(create: Create) -> None:
    database = create()
    database.upsert(points(1))
    read = database.get(1)
    assert read is not None
    seen = read["timestamps"]["changed_at"]
    changed = database.patch(1, {"a": 1}, if_changed_at=seen)
    for write in (
        lambda: database.patch(1, {"a": 2}, if_changed_at=seen),
        lambda: database.upsert([{**points(1)[0], "if_changed_at": seen}]),
        lambda: database.upsert([{**points(1)[0], "if_changed_at": None}]),
        lambda: database.delete([{"id": 1, "if_changed_at": seen}]),
    ):
        with pytest.raises(CosiftError) as refusal:
            write()
        assert refusal.value.code == "precondition_failed"
        assert refusal.value.problems[0].get("changed_at") == changed["timestamps"]["changed_at"]
    assert database.delete([{"id": 1, "if_changed_at": changed["timestamps"]["changed_at"]}]) == 1
    created = database.upsert([{**points(1)[0], "if_changed_at": None}])
    assert created["created"] == 1


def test_lists_are_returned_as_they_were_written(create: Create) -> None:
    database = create()
    database.upsert(points(1, tags=["a", "b", 3]))
    assert [record["data"]["tags"] for record in database.query_all(filter=equals("tags", "b"))] == [["a", "b", 3]]


def test_lines_are_written_and_each_problem_is_told(create: Create) -> None:
    database = create()
    lines = [json.dumps(record) + "\n" for record in points(*range(1, 2_002))]
    lines[1_500] = '{"id":1501,"data":{"n":{}},"vector":[1,0]}\n'
    events = list(database.upsert_lines(line.encode() for line in lines))
    (problem,) = (event for event in events if event["type"] == "problem")
    assert (problem["line"], problem["pointer"]) == (1_501, "/data/n")
    summary = events[-1]
    assert summary["type"] == "summary" and (summary["created"], summary["failed"]) == (2_000, 1)
    assert [event["committed"] for event in events if event["type"] == "progress"][-1] == 2_000
    (again,) = list(database.upsert_lines("".join(lines[:2])))[-1:]
    assert again["type"] == "summary" and again["unchanged"] == 2


def test_many_problems_do_not_stop_a_stream(create: Create) -> None:
    database = create()
    events = database.upsert_lines(f'{{"id":{n},"data":{{}},"vector":[1,2,3]}}\n' for n in range(1, 60_001))
    assert sum(event["type"] == "problem" for event in events) == 60_000


def test_a_stream_that_is_refused_says_why(client: Client, create: Create) -> None:
    with pytest.raises(CosiftError) as refusal:
        list(client.database("none").upsert_lines(f'{{"id":{n},"data":{{}}}}\n' for n in range(1, 200_000)))
    assert refusal.value.code == "database_not_found"
    with pytest.raises(CosiftError, match="^/chunks: has a int, must have bytes or text"):
        list(create().upsert_lines([3]))  # type: ignore[list-item]


def test_a_replacement_deletes_what_the_source_lacks(create: Create) -> None:
    database = create()
    database.upsert(points(1, 2, 3))
    progress: list[int] = []
    replaced = database.replace_all([*points(2, 4), *points(3, colour="red")], on_progress=progress.append)
    assert replaced == {"created": 1, "changed": 1, "unchanged": 1, "deleted": 1}
    assert progress[-1] == 3
    assert ids(database) == [2, 3, 4]


def test_a_replacement_deletes_nothing_after_a_problem(create: Create) -> None:
    database = create()
    database.upsert(points(1, 2))
    with pytest.raises(CosiftError) as refusal:
        database.replace_all([*points(3), {"data": {}, "vector": [1, 0]}])
    assert refusal.value.code == "deletion_refused"
    assert refusal.value.problems[0]["pointer"].startswith("/records/1")
    assert ids(database) == [1, 2, 3]

    def source() -> Iterator[dict[str, Any]]:
        yield from points(4)
        raise LookupError

    with pytest.raises(LookupError):
        database.replace_all(source())
    assert set(ids(database)) >= {1, 2, 3}


def test_a_replacement_deletes_no_more_than_allowed(create: Create) -> None:
    database = create()
    database.upsert(points(*range(1, 41)))
    with pytest.raises(CosiftError) as refusal:
        database.replace_all(points(1))
    assert (refusal.value.code, refusal.value.fields["missing"], refusal.value.fields["max"]) == ("deletion_refused", 39, 10)
    assert database.replace_all(points(1), max_deletes=39)["deleted"] == 39
    with pytest.raises(CosiftError):
        database.replace_all([])
    assert database.replace_all([], max_deletes=1)["deleted"] == 1


def test_deletions_take_ids_a_filter_or_a_time_range(create: Create) -> None:
    database = create()
    database.upsert([*points(1, 2, 3, 4), {"key": "k", "data": {}, "vector": [1, 0]}])
    assert database.delete([1, "key:k", 99]) == 2
    assert database.delete(filter=equals("n", 2)) == 1
    assert database.delete(time_range={"end_time": "2020-01-01"}) == 0
    assert database.delete(time_range={"start_time": "2020-01-01"}) == 2
    wrong: list[dict[str, Any]] = [{}, {"time_range": {}}, {"ids": []}, {"ids": [1], "filter": equals("n", 1)}]
    for options in wrong:
        with pytest.raises(CosiftError) as refusal:
            database.delete(**options)
        assert refusal.value.status == 400


def test_an_export_is_taken_back_as_it_is(create: Create) -> None:
    database = create()
    database.upsert([*points(*range(1, 2_001)), {"id": 3_000, "key": "k", "data": {"t": "ü\n"}, "vector": [0.1, 0.7]}])
    lines = b"".join(database.export_lines(vectors=True))
    copy = create()
    summary = list(copy.upsert_lines(lines))[-1]
    assert summary["type"] == "summary" and summary["created"] == 2_001
    records = list(database.export(vectors=True))
    assert [json.loads(line) for line in lines.splitlines()] == records
    for before, after in zip(records, copy.export(vectors=True)):
        assert before["data"] == after["data"] and before["vector"] == after["vector"]
        assert (before["id"], before["uuid"], before.get("key")) == (after["id"], after["uuid"], after.get("key"))
    assert [record["id"] for record in database.export(filter=equals("n", 7))] == [7]
    assert "vector" not in next(iter(database.export()))
    with pytest.raises(CosiftError) as refusal:
        list(database.export(filter=cast(Any, {"column": "n", "operator": "x"})))
    assert refusal.value.code == "invalid_filter"
    with pytest.raises(CosiftError, match="^/filter: is longer than the address of an export may be") as refusal:
        list(database.export(filter={"column": "n", "operator": "in", "value": ["x" * 9_000] * 9}))
    assert refusal.value.code == "headers_too_large"


def test_an_export_may_be_left_early(create: Create) -> None:
    database = create()
    database.upsert(points(*range(1, 5_001)))
    export = database.export()
    assert next(export)["id"] == 1
    export.close()
    assert next(database.export())["id"] == 1
