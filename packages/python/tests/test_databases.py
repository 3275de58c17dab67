"""Databases, aliases, keys, webhooks, the change feed, another model, and what a service does for a whole directory."""

from __future__ import annotations

import io
import math
import tarfile
import threading
from collections.abc import Callable
from typing import Any

import pytest

from cosift import Client, CosiftError
from cosift.filters import equals

from .conftest import Create
from .service import Service


def point(id: int, **data: Any) -> dict[str, Any]:
    return {"id": id, "data": {"n": id, **data}, "vector": [1, id]}


def refused(code: str, call: Callable[[], object]) -> CosiftError:
    with pytest.raises(CosiftError) as refusal:
        call()
    assert refusal.value.code == code
    return refusal.value


def test_a_database_is_created_once_and_described(client: Client, create: Create) -> None:
    database = create(embed={"columns": ["text"]}, lexical=True)
    again = client.create_database(database.id, embed={"columns": ["text"]}, lexical=True)
    assert again.id == database.id
    refused("database_exists", lambda: client.create_database(database.id, dimensions=3))
    description = database.describe()
    assert description["embed"] == {"columns": ["text"]} and description["lexical"]
    assert (description["records"], description["dimensions"]) == (0, 384)
    assert database.id in [one["id"] for one in client.databases()]
    error = refused("invalid_request", lambda: client.create_database("x", dimensions=0))
    assert error.problems[0]["pointer"] == "/dimensions"
    refused("invalid_request", lambda: client.create_database("No Name"))


def test_settings_are_changed_and_searches_take_defaults_from_them(create: Create) -> None:
    database = create()
    database.upsert([point(1), point(2)])
    described = database.configure(lexical=True, defaults={"threshold": 1, "limit": 1})
    assert described["lexical"] and described.get("defaults") == {"threshold": 1, "limit": 1}
    assert len(database.search({"vector": [1, 1]})["results"]) == len(database.query()["results"]) == 1
    assert database.configure(defaults={"threshold": None}).get("defaults") == {"limit": 1}
    assert "defaults" not in database.configure(defaults=None)
    error = refused("invalid_request", lambda: database.configure(defaults={"limit": 0}))
    assert error.problems[0]["pointer"] == "/defaults/limit"


def test_nested_objects_are_columns_with_the_setting(create: Create) -> None:
    database = create(dimensions=2, flatten=True)
    assert database.describe().get("flatten") is True
    data = {"name": "Ada", "at": {"city": "Rome", "geo": {"lat": 1.5}}, "visits": [{"year": 2024}]}
    database.upsert([{"id": 1, "data": data, "vector": [1, 0]}])
    flat = {"name": "Ada", "at.city": "Rome", "at.geo.lat": 1.5, "visits": '[{"year":2024}]'}
    record = database.get(1)
    assert record is not None and record["data"] == flat
    assert database.patch(1, {"at": {"geo": None}})["data"] == {
        name: value for name, value in flat.items() if name != "at.geo.lat"
    }
    assert "flatten" not in database.configure(flatten=None)


def test_a_database_that_is_dropped_is_gone(client: Client, create: Create) -> None:
    database = create()
    database.upsert([point(1)])
    database.drop()
    for call in (
        database.describe,
        database.drop,
        lambda: database.upsert([point(1)]),
        lambda: database.search({"vector": [1, 0]}),
        lambda: database.get(1),
        lambda: list(database.export()),
        lambda: database.replace_all([point(1)]),
        database.changes,
    ):
        refused("database_not_found", call)


def test_aliases_name_databases(client: Client, create: Create) -> None:
    one, other = create(), create()
    one.upsert([point(1)])
    client.set_alias("named", one.id)
    assert {"name": "named", "database": one.id} in client.aliases()
    assert client.database("named").describe()["records"] == 1
    client.set_alias("named", other.id)
    assert client.database("named").describe()["records"] == 0
    refused("alias_conflict", other.drop)
    refused("alias_conflict", lambda: client.set_alias(one.id, other.id))
    client.delete_alias("named")
    refused("alias_not_found", lambda: client.delete_alias("named"))


def test_a_key_with_a_filter_sees_nothing_else(
    client: Client, create: Create, connect: Callable[..., Client], service: Service
) -> None:
    database = create()
    database.upsert([point(n, team="a" if n % 2 else "b") for n in range(1, 7)])
    issued = client.issue_key("team a", ["search", "records.read"], [database.id], filter=equals("team", "a"))
    assert issued["key_id"] in [key["key_id"] for key in client.keys()]
    reader = connect(service.url, issued["key"])
    try:
        own = reader.database(database.id)
        assert [record["id"] for record in own.query_all(sort={"column": "n"})] == [1, 3, 5]
        assert own.search({"vector": [1, 1]}, total=True).get("total") == {"value": 3}
        assert own.get(2) is None
        assert [record["id"] for record in own.export()] == [1, 3, 5]
        assert {change["id"] for change in own.changes()["changes"]} == {1, 3, 5}
        refused("forbidden", lambda: own.upsert([point(9)]))
        refused("forbidden", reader.keys)
        assert refused("forbidden", reader.database("other").describe).status == 403
    finally:
        client.revoke_key(issued["key_id"])
    refused("unauthorized", own.describe)
    reader.close()
    refused("key_not_found", lambda: client.revoke_key(issued["key_id"], descendants=True))


def test_webhooks_are_created_listed_and_deleted(create: Create) -> None:
    database = create()
    created = database.create_webhook("https://example.com/hook", after=0)
    assert created["secret"]
    (listed,) = database.webhooks()
    assert listed["webhook_id"] == created["webhook_id"] and "secret" not in listed
    database.delete_webhook(created["webhook_id"])
    assert database.webhooks() == []
    error = refused("invalid_request", lambda: database.create_webhook("ftp://example.com"))
    assert error.problems[0]["pointer"] == "/url"


def test_the_change_feed_tells_every_change_in_order(create: Create) -> None:
    database = create()
    database.upsert([point(1), point(2)])
    database.upsert([point(1, colour="red")])
    database.delete([2])
    told: list[tuple[str, int]] = []
    position: Any = {}
    while True:
        page = database.changes(**position, limit=2)
        told += [(change["kind"], change["id"]) for change in page["changes"]]
        position = {"after": page["position"], "epoch": page["epoch"]}
        if not page["has_more"]:
            break
    assert told == [("created", 1), ("created", 2), ("changed", 1), ("deleted", 2)]
    database.drop()
    refused("database_not_found", lambda: database.changes(**position))


def test_a_database_that_is_created_again_has_another_feed(client: Client, create: Create) -> None:
    database = create()
    database.upsert([point(1)])
    page = database.changes()
    database.drop()
    client.create_database(database.id, dimensions=2)
    refused("feed_restarted", lambda: database.changes(after=page["position"], epoch=page["epoch"]))


def test_a_follower_waits_for_changes(create: Create, service: Service) -> None:
    database = create()
    database.upsert([point(1)])
    follower = database.follow(wait=20)
    assert next(follower)["id"] == 1

    def write() -> None:
        with Client(service.url, "key-of-the-service") as other:
            other.database(database.id).upsert([point(2)])

    writer = threading.Thread(target=write)
    writer.start()
    assert next(follower)["id"] == 2
    writer.join()
    follower.close()
    refused("invalid_request", lambda: database.changes(wait=-1))


def test_another_model_is_refused_where_there_is_none(create: Create) -> None:
    database = create()
    assert refused("invalid_request", lambda: database.reembed("no such model")).status == 400
    refused("reembedding_not_found", database.cancel_reembedding)


def test_a_database_gets_the_vectors_of_a_model(create: Create) -> None:
    database = create()
    database.upsert([{"id": n, "data": {"text": f"fact {n}"}, "vector": [1, 0]} for n in range(1, 4)])
    states: list[str] = []
    state = database.reembed("all-MiniLM-L6-v2", on_progress=lambda told: states.append(told["state"]))
    assert state["state"] == states[-1] == "done"
    assert database.describe()["model"] == "all-MiniLM-L6-v2"
    assert len(database.search("fact", threshold=0)["results"]) == 3


def test_texts_are_embedded(client: Client) -> None:
    first, second = client.embed(["a tall tower", "deep water"])
    assert len(first) == 384 and math.isclose(sum(x * x for x in first), 1, abs_tol=1e-6)
    assert first != second
    error = refused("invalid_request", lambda: client.embed(["fine", " "]))
    assert error.problems[0]["pointer"] == "/texts/1"
    refused("invalid_request", lambda: client.embed("a text"))
    refused("invalid_request", lambda: client.embed(["a"], model="no such model"))


def test_a_backup_is_an_archive(client: Client, create: Create) -> None:
    database = create()
    database.upsert([point(1)])
    progress: list[tuple[int, int]] = []
    archive = b"".join(client.backup(database.id, on_progress=lambda read, total: progress.append((read, total))))
    assert progress[0] == (0, len(archive)) and progress[-1] == (len(archive), len(archive))
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        assert any(database.id in name for name in files.getnames())
    refused("database_not_found", lambda: list(client.backup("none")))


def test_the_doctor_checks_every_database(client: Client, create: Create) -> None:
    database = create()
    database.upsert([point(1)])
    checks = list(client.doctor())
    assert {check["status"] for check in checks} == {"ok"}
    assert database.id in [check.get("database") for check in checks]


def test_what_was_acknowledged_is_there_after_a_restart(connect: Callable[..., Client]) -> None:
    own = Service()
    try:
        client = connect(own.url)
        client.create_database("kept", dimensions=2).upsert([point(1)])
        client.close()
        refused("not_ready", client.databases)
        refused("not_ready", lambda: list(client.database("kept").upsert_lines(b"")))
        own.stop()
        own.start()
        again = connect(own.url)
        assert [record["id"] for record in again.database("kept").export()] == [1]
        again.close()
    finally:
        own.remove()
