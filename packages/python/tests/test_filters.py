"""The operators, alone and in groups: the golden cases of the service, and random filters against an oracle."""

from __future__ import annotations

import json
import random
from typing import Any, cast

import pytest

from cosift import CosiftError, Database, filters
from cosift.types import Filter

from .conftest import Create
from .oracle import relevance_score, satisfies, sort_key
from .service import ROOT

GOLDEN = json.loads((ROOT / "test" / "golden" / "filter.json").read_text())
WORDS = ["", " ", "red", "Red", "reddish", "blue", "b_ue", 'a"b\\', "naïve", "日本語", "😀", "1", "true"]
NUMBERS = [0, 1, -1.5, 0.1 + 0.2, 1e300, 5e-324, 2**53, 1e16]
TIMES = ["2026-01-31", "2026-01-31T05:45:00.000+05:45", "2026-01-31T00:00:00.000000001Z", "2026-02-29", "1969-12-31T23:59:59.5Z"]
# The largest filters leave no room for a rule that selects the case.
LIMITS = ("too_deep", "too_many_values", "too_many_rules")
VALUES: list[Any] = [*WORDS, *NUMBERS, *TIMES, True, False, None, ["red", "blue"], [], [1, 2.5]]


def test_the_golden_cases_hold(create: Create) -> None:
    database = create()
    cases = GOLDEN["matches"]
    database.upsert(
        {"id": at + 1, "data": {**case["data"], "golden case": at}, "vector": [1, 0]} for at, case in enumerate(cases)
    )
    for at, case in enumerate(cases):
        # The oracle has no years before 1 and after 9999.
        if "before" not in case["name"] and "after" not in case["name"]:
            assert satisfies(case["data"], case["filter"]) == case["matches"], f"the oracle: {case['name']}"
        own: Filter = {"rules": [case["filter"], filters.equals("golden case", at)]}
        try:
            found = [record["id"] for record in database.query(filter=own)["results"]]
        except CosiftError as error:
            # Python has integers that JSON has only as other numbers.
            assert "a double cannot hold exactly" in error.detail or error.problems[0]["code"] in LIMITS, case["name"]
            continue
        assert found == ([at + 1] if case["matches"] else []), case["name"]


def test_the_golden_refusals_name_the_place(create: Create) -> None:
    database = create()
    for case in GOLDEN["refused"]:
        # A rule alone is a filter of the client, and a condition is optional.
        if "rules" not in (case["filter"] or ()) or case["name"] == "no condition":
            continue
        with pytest.raises(CosiftError) as refusal:
            database.query(filter=cast(Filter, case["filter"]))
        assert refusal.value.status == 400, case["name"]
        places = [f"/filter{problem['pointer']}" for problem in case["problems"]]
        assert refusal.value.problems[0]["pointer"] in places, case["name"]


def test_the_functions_make_the_rules(create: Create) -> None:
    database = create()
    database.upsert([{"id": n, "data": {"n": n, "t": f"2026-01-0{n}"}, "vector": [1, 0]} for n in (1, 2, 3, 4)])

    def found(rule: Filter) -> list[int]:
        return sorted(record["id"] for record in database.query_all(filter=rule))

    assert found(filters.and_(filters.greater_than("n", 1), filters.less_than("n", 4))) == [2, 3]
    assert found(filters.or_(filters.equals("n", 1), filters.greater_than_or_equals("n", 4))) == [1, 4]
    assert found(filters.is_in("n", [2, 3, 9])) == [2, 3]
    assert found(filters.is_not_in("n", [2, 3])) == [1, 4]
    assert found(filters.before("t", "2026-01-02")) == [1]
    assert found(filters.on_or_after("t", "2026-01-03")) == [3, 4]
    assert found(filters.starts_with("t", "2026")) == [1, 2, 3, 4]
    assert found(filters.is_empty("absent")) == [1, 2, 3, 4]
    assert found(filters.less_than_or_equals("n", 1)) == found(filters.not_equals("t", "x"))[:1]


def random_filter(draw: random.Random, depth: int = 3) -> dict[str, Any]:
    if depth > 0 and draw.random() < 0.4:
        rules = [random_filter(draw, depth - 1) for _ in range(draw.randint(1, 3))]
        return {"condition": draw.choice(["AND", "OR"]), "rules": rules}
    column = draw.choice(["a", "b", "nobody has it"])
    operator = draw.choice(sorted({case["filter"]["rules"][0].get("operator", "equals") for case in GOLDEN["matches"][:300]}))
    scalars = [value for value in VALUES if value is not None and not isinstance(value, list)]
    numeric = operator.startswith(("greater", "less"))
    if operator in ("is_empty", "is_not_empty"):
        return {"column": column, "operator": operator}
    if operator in ("in", "not_in"):
        return {"column": column, "operator": operator, "value": draw.sample(scalars, 4)}
    if operator in ("equals", "not_equals"):
        return {"column": column, "operator": operator, "value": draw.choice(scalars)}
    if operator.endswith(("before", "after")):
        return {"column": column, "operator": operator, "value": draw.choice([t for t in TIMES if t != "2026-02-29"])}
    return {"column": column, "operator": operator, "value": draw.choice(NUMBERS if numeric else WORDS)}


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    draw = random.Random(1)
    vectors = [[draw.uniform(-1, 1) for _ in range(12)] for _ in range(30)]
    return [
        {
            "id": at + 1,
            "data": {c: draw.choice(VALUES) for c in ("a", "b") if draw.random() < 0.8} | {"n": at % 7},
            "vector": draw.choice(vectors),
        }
        for at in range(240)
    ]


@pytest.fixture(scope="module")
def database(create: Create, records: list[dict[str, Any]]) -> Database:
    database = create(dimensions=12)
    database.upsert(records)
    return database


@pytest.mark.parametrize("seed", [11, 12])
def test_random_searches(database: Database, records: list[dict[str, Any]], seed: int) -> None:
    draw = random.Random(seed)
    selective = 0
    for turn in range(40):
        filter = random_filter(draw)
        query = [draw.uniform(-1, 1) for _ in range(12)]
        threshold = draw.choice([0, 0.2, 0.5])
        limit = draw.choice([1, 7, 100])
        matches = [record for record in records if satisfies(record["data"], filter)]
        expected = sorted(
            (-score, record["id"])
            for record in matches
            if (score := relevance_score(query, record["vector"])) >= threshold
        )
        options: dict[str, Any] = {"filter": filter, "threshold": threshold}
        found = database.search_all({"vector": query}, **options, limit=limit)
        assert [(-result["relevance_score"], result["id"]) for result in found] == expected, f"turn {turn}: {filter}"
        page = database.search({"vector": query}, **options, limit=1, total=True)
        assert page.get("total") == {"value": len(expected)}
        assert page["pagination"]["has_more"] == (len(expected) > 1)
        selective += 0 < len(matches) < len(records)
    assert selective > 10, "filters keep some records and drop others"


def test_random_queries(database: Database, records: list[dict[str, Any]]) -> None:
    draw = random.Random(21)
    for turn in range(40):
        filter = cast(Filter, random_filter(draw))
        descending = draw.random() < 0.5
        column = draw.choice(["a", "n", "absent"])

        def place(record: dict[str, Any]) -> Any:
            value = record["data"].get(column)
            if isinstance(value, list):
                listed = sorted(value, key=sort_key, reverse=descending)
                value = listed[0] if listed else None
            return None if value is None else sort_key(value)

        matches = [record for record in records if satisfies(record["data"], cast(Any, filter))]
        valued = [record for record in matches if place(record) is not None]
        valued.sort(key=lambda record: record["id"])
        valued.sort(key=place, reverse=descending)
        ids = [record["id"] for record in valued]
        ids += [record["id"] for record in matches if place(record) is None]
        found = database.query_all(
            filter=filter,
            sort={"column": column, "direction": "desc" if descending else "asc"},
            limit=draw.choice([3, 100]),
            columns=[column],
        )
        by_id = {record["id"]: record["data"] for record in records}
        listed = [(record["id"], record["data"]) for record in found]
        assert [id for id, _ in listed] == ids, f"turn {turn}: {filter}"
        assert all(data == {k: v for k, v in by_id[id].items() if k == column} for id, data in listed)
