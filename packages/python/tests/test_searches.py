"""Pages, scores and what a search can be asked for."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from cosift import Client, CosiftError, Database
from cosift.filters import equals, greater_than
from cosift.types import SearchQuery

from .conftest import Create
from .oracle import relevance_score

FACTS: list[dict[str, Any]] = [
    {"id": 1, "data": {"text": "The Eiffel Tower is a wrought-iron lattice tower in Paris", "country": "France"}},
    {"id": 2, "data": {"text": "Lake Baikal is the deepest lake in the world", "country": "Russia"}},
    {"id": 3, "data": {"text": "The Chrysler Building is an Art Deco skyscraper in New York", "country": "USA"}},
    {"id": 4, "data": {"text": "Mont Blanc is the highest mountain of the Alps", "country": "France"}},
    {"id": 5, "data": {"text": "", "country": "France"}},
]


@pytest.fixture(scope="module")
def facts(create: Create) -> Database:
    facts = create(embed={"columns": ["text"]}, lexical=True)
    facts.upsert(FACTS)
    return facts


@pytest.fixture(scope="module")
def circle(create: Create) -> Database:
    """Thirty records at the angles of a circle, in three groups."""
    circle = create()
    circle.upsert(
        {"id": n, "data": {"n": n, "group": n % 3}, "vector": [math.cos(n / 10), math.sin(n / 10)]} for n in range(1, 31)
    )
    return circle


def ids(results: Any) -> list[int]:
    return [result["id"] for result in results]


def test_texts_are_found_by_meaning(facts: Database) -> None:
    page = facts.search("a tall steel structure in France", limit=3)
    assert page["results"][0]["id"] == 1
    scores = [result["relevance_score"] for result in page["results"]]
    assert scores == sorted(scores, reverse=True)
    assert ids(facts.search_all("deep water", threshold=0.3)) == [2]
    assert ids(facts.search_all("anything", threshold=0, filter=equals("country", "France"))) != [5]


def test_a_record_without_text_is_listed_and_found_by_no_search(facts: Database) -> None:
    assert 5 in ids(facts.query_all())
    assert 5 not in ids(facts.search_all("France", threshold=0))
    assert facts.describe().get("without_text") == 1


def test_pages_of_one_show_each_match_once(circle: Database) -> None:
    query: SearchQuery = {"vector": [1, 0]}
    expected = ids(circle.search_all(query, threshold=0, limit=100))
    assert ids(circle.search_all(query, threshold=0, limit=1)) == expected
    seen: list[int] = []
    cursor = None
    while True:
        page = circle.search(query, threshold=0, limit=7, cursor=cursor)
        seen += ids(page["results"])
        assert page["pagination"]["has_more"] == ("next_cursor" in page["pagination"])
        cursor = page["pagination"].get("next_cursor")
        if cursor is None:
            break
        assert len(page["results"]) == 7
    assert seen == expected


def test_a_cursor_goes_on_after_its_record_is_deleted(create: Create) -> None:
    database = create()
    database.upsert([{"id": n, "data": {}, "vector": [1, n]} for n in range(1, 6)])
    page = database.search({"vector": [1, 0]}, threshold=0, limit=2)
    database.delete([page["results"][-1]["id"]])
    rest = database.search_all({"vector": [1, 0]}, threshold=0, cursor=page["pagination"]["next_cursor"])
    assert ids(page["results"]) + ids(rest) == [1, 2, 3, 4, 5]


def test_a_score_that_equals_the_threshold_passes(circle: Database) -> None:
    result = circle.search({"vector": [1, 0]}, threshold=0, limit=10)["results"][9]
    score = result["relevance_score"]
    vector = [math.cos(result["id"] / 10), math.sin(result["id"] / 10)]
    assert score == relevance_score([1, 0], vector)
    assert len(list(circle.search_all({"vector": [1, 0]}, threshold=score))) == 10
    assert len(list(circle.search_all({"vector": [1, 0]}, threshold=score + 1e-9))) == 9


def test_batches_have_the_pages_and_the_errors_of_single_searches(circle: Database) -> None:
    draw = random.Random(5)
    searches: list[Any] = []
    for _ in range(20):
        query = {"vector": [draw.uniform(-1, 1), draw.uniform(-1, 1)]}
        searches.append({"search": query, "threshold": draw.choice([0, 0.5, 2]), "limit": draw.randint(1, 9), "total": True})
    searches += [
        {"search": 3},
        {"search": "no model"},
        {"search": {"vector": [1, 0]}, "unknown": 1},
        {"search": {"vector": [1, 0]}, "filter": {"column": "n", "operator": "is"}},
        {"search": {"vector": [1, float("nan")]}},
    ]
    outcomes = circle.search_many(searches)
    assert len(outcomes) == len(searches)
    for at, (search, outcome) in enumerate(zip(searches, outcomes)):
        query = search["search"]
        options = {name: value for name, value in search.items() if name != "search"}
        if "unknown" in options:
            assert isinstance(outcome, CosiftError)
            assert outcome.problems[0]["pointer"] == f"/searches/{at}/unknown"
            continue
        try:
            expected = circle.search(query, **options)
        except CosiftError as error:
            assert isinstance(outcome, CosiftError)
            assert outcome.code == error.code
            place = error.problems[0]["pointer"].replace("/query", "/search")
            assert outcome.problems[0]["pointer"] == f"/searches/{at}{place}"
        else:
            assert outcome == expected
    wrongs: list[list[Any]] = [[], [{"search": "a"}] * 65]
    for wrong in wrongs:
        with pytest.raises(CosiftError, match="searches"):
            circle.search_many(wrong)


def test_boosts_are_parts_of_the_score(circle: Database) -> None:
    boosts: Any = [
        {"weight": 0.25, "filter": equals("group", 1)},
        {"weight": 0.25, "column": "n", "target": 20, "scale": 10},
    ]
    found = circle.search_all({"vector": [1, 0]}, threshold=0, boosts=boosts)
    for result in found:
        n = result["data"]["n"]
        score = relevance_score([1, 0], [math.cos(n / 10), math.sin(n / 10)])
        expected = 0.5 * score + 0.25 * (n % 3 == 1) + 0.25 * max(0, 1 - abs(n - 20) / 10)
        assert result["relevance_score"] == pytest.approx(expected, abs=2e-9)
    with pytest.raises(CosiftError) as refusal:
        circle.search({"vector": [1, 0]}, boosts=[{"weight": 0.5, "filter": {"column": "n", "operator": "x"}}])  # type: ignore[typeddict-item]
    assert refusal.value.problems[0]["pointer"] == "/boosts/0/filter/operator"


def test_distinct_shows_the_first_of_each_value(circle: Database) -> None:
    every = list(circle.search_all({"vector": [1, 0]}, threshold=0))
    first = {result["data"]["group"]: result["id"] for result in reversed(every)}
    found = list(circle.search_all({"vector": [1, 0]}, threshold=0, distinct="group", limit=1))
    assert ids(found) == sorted(first.values(), key=ids(every).index)
    page = circle.search({"vector": [1, 0]}, threshold=0, distinct={"column": "group", "counts": True}, total=True)
    assert page.get("total") == {"value": 3}
    assert sum(result["group"]["count"] for result in page["results"]) == len(every)


def test_counts_are_of_all_pages(circle: Database) -> None:
    page = circle.query(
        filter=greater_than("n", 10),
        limit=1,
        total=True,
        facets=[
            {"column": "group", "limit": 2},
            {"column": "n", "type": "histogram", "interval": 10},
            {"time": "created", "interval": "year"},
        ],
    )
    facets: Any = page["facets"]
    values, histogram, times = facets
    assert page["total"] == {"value": 20}
    assert values == {
        "column": "group",
        "type": "values",
        "values": [{"value": 0, "count": 7}, {"value": 2, "count": 7}],
        "other": 6,
        "missing": 0,
    }
    assert histogram["buckets"] == [{"from": 10, "count": 9}, {"from": 20, "count": 10}, {"from": 30, "count": 1}]
    assert [bucket["count"] for bucket in times["buckets"]] == [20]


def test_examples_search_by_what_is_like_them(circle: Database) -> None:
    found = circle.search({"like": {"positive": [10, 12]}}, limit=3)["results"]
    assert found[0]["id"] == 11 and not {10, 12} & set(ids(found))
    one = circle.search({"like": {"positive": [10], "negative": [20]}}, threshold=0)["results"]
    assert one[0]["id"] < 10
    with pytest.raises(CosiftError) as refusal:
        circle.search({"like": {"positive": [99]}})
    assert refusal.value.problems[0]["pointer"] == "/query/like/positive/0"


def test_vectors_are_shown_where_they_are_asked_for(circle: Database, client: Client, facts: Database) -> None:
    result = circle.search({"vector": [1, 0]}, vectors=True, limit=1)["results"][0]
    assert result["vector"] == pytest.approx([math.cos(0.1), math.sin(0.1)], abs=1e-7)
    assert "vector" not in circle.search({"vector": [1, 0]}, limit=1)["results"][0]
    record = facts.get(1, vectors=True)
    assert record is not None and record["embedded_by"] == facts.describe()["fingerprint"]
    (vector,) = client.embed([FACTS[0]["data"]["text"]], kind="record")
    assert record["vector"] == pytest.approx(vector, abs=1e-8)
    by_vector = facts.search({"vector": client.embed(["deep water"])[0]}, threshold=0)
    assert by_vector == facts.search("deep water", threshold=0)


def test_words_count_if_the_search_says_so(facts: Database) -> None:
    found = facts.search("Baikal", lexical=1, threshold=0.1, highlights=True)["results"]
    assert ids(found) == [2]
    (start, end) = found[0]["highlights"]["text"][0]
    assert FACTS[1]["data"]["text"][start:end] == "Baikal"
    with pytest.raises(CosiftError) as refusal:
        facts.search("Baikal", highlights=True)
    assert refusal.value.problems[0]["pointer"] == "/highlights"


def test_passages_of_a_long_record_are_shown(create: Create) -> None:
    database = create(embed={"columns": ["text"]})
    long = " ".join(f"Sentence {n} is about the weather of the day and the work in the fields." for n in range(60))
    database.upsert([{"id": 1, "data": {"text": f"{long} Lake Baikal is the deepest lake in the world."}}])
    best = database.search("the deepest lake", passages=2, neighbours=1)["results"][0]["best_passages"]
    assert "Baikal" in best[0]["text"] and len(best) == 2
    passage = database.search("the deepest lake", passages=True)["results"][0]["passage"]
    assert passage["column"] == "text" and passage["start"] > 0
    assert list(database.export(vectors=True))[0]["passages"][0]["column"] == "text"


def test_columns_restrict_the_data(facts: Database) -> None:
    assert all(set(r["data"]) <= {"country"} for r in facts.search("tower", threshold=0, columns=["country"])["results"])
    assert facts.query(columns=[], limit=1)["results"][0]["data"] == {}


def test_sorts_and_times(create: Create) -> None:
    database = create()
    times: Any = [{"created_at": f"2026-01-0{n}T00:00:00Z", "synced_at": f"2026-01-0{n}T00:00:00Z"} for n in (1, 2, 3)]
    database.upsert([{"id": n, "data": {}, "vector": [1, 0], "timestamps": times[n - 1]} for n in (1, 2, 3)])
    assert ids(database.query()["results"]) == [3, 2, 1]
    assert ids(database.query(sort={"time": "created_at"})["results"]) == [1, 2, 3]
    ranges: Any = {"start_time": "2026-01-02", "end_time": "2026-01-02"}
    assert ids(database.query_all(time_range=ranges)) == [2]
    assert ids(database.search_all({"vector": [1, 0]}, time_range={"start_time": "2026-01-02"})) == [2, 3]
    with pytest.raises(CosiftError) as refusal:
        database.query(time_range={"start_time": "yesterday"})
    assert (refusal.value.code, refusal.value.problems[0]["pointer"]) == ("invalid_time", "/time_range/start_time")


def test_maps_have_the_matches_of_the_search(circle: Database) -> None:
    points = circle.map({"vector": [1, 0]}, threshold=0.5, columns=["n"])
    assert ids(points["points"]) == ids(circle.search_all({"vector": [1, 0]}, threshold=0.5))
    assert all(point["data"] == {"n": point["id"]} for point in points["points"])
    assert len(circle.map()["points"]) == 30
    with pytest.raises(CosiftError):
        circle.map(threshold=0.5)


def test_explanations_are_given(circle: Database) -> None:
    page = circle.search({"vector": [1, 0]}, filter=greater_than("n", 0), explain=True, limit=1)
    assert page["explain"]["records"] == 30
    assert page["results"][0]["explain"]["filter"]["held"] is True


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"threshold": 2}, "/threshold"),
        ({"threshold": "0.5"}, "/threshold"),
        ({"lexical": -1}, "/lexical"),
        ({"limit": 0}, "/limit"),
        ({"limit": 101}, "/limit"),
        ({"limit": 1.5}, "/limit"),
        ({"cursor": 3}, "/cursor"),
        ({"filter": {"rules": []}}, "/filter/rules"),
        ({"filter": {"column": "a", "operator": "x"}}, "/filter/operator"),
        ({"filter": {"rules": [{"column": "a", "operator": "in", "value": [None]}]}}, "/filter/rules/0/value/0"),
        ({"filter": {"column": "a", "operator": "equals", "value": float("inf")}}, "/filter/value"),
        ({"facets": []}, "/facets"),
        ({"columns": "a"}, "/columns"),
        ({"time_range": {"start": "2026-01-01"}}, "/time_range/start"),
        ({"distinct": 3}, "/distinct"),
        ({"total": "yes"}, "/total"),
    ],
)
def test_what_is_no_value_of_an_option_is_refused_at_its_place(
    circle: Database, options: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(CosiftError) as refusal:
        circle.search({"vector": [1, 0]}, **options)
    assert refusal.value.status == 400
    assert pointer in [problem["pointer"] for problem in refusal.value.problems]


def test_a_cursor_of_another_request_is_refused(circle: Database) -> None:
    for cursor in ("x", "0.5", "2_1", "0.734512389|0190a0b2-0000-7000-8000-000000000000"):
        with pytest.raises(CosiftError) as refusal:
            circle.search({"vector": [1, 0]}, cursor=cursor)
        assert refusal.value.code == "invalid_cursor"


def test_a_query_is_a_text_a_vector_or_examples(circle: Database) -> None:
    for query in (3, None, ["a"], {}, {"text": "a", "like": {"positive": [1]}}, {"unknown": 1}):
        with pytest.raises(CosiftError) as refusal:
            circle.search(query)  # type: ignore[arg-type]
        assert refusal.value.problems[0]["pointer"].startswith("/query"), query
    with pytest.raises(CosiftError) as refusal:
        circle.search({"vector": [1, 2, 3]})
    assert (refusal.value.code, refusal.value.fields["expected"], refusal.value.fields["got"]) == ("invalid_dimensions", 2, 3)
