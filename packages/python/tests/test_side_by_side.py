"""Calls that run at the same time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from cosift import AsyncClient, AsyncDatabase, Client, CosiftError, Database

from .conftest import Create
from .service import KEY, Service


@pytest.fixture
def database(create: Create) -> Database:
    database = create()
    database.upsert([{"id": 1, "data": {"count": 0}, "vector": [1, 0]}])
    return database


def test_eight_writers_that_count_in_one_record_lose_no_count(service: Service, database: Database) -> None:
    async def add(own: AsyncDatabase) -> None:
        while True:
            record = await own.get(1)
            assert record is not None
            try:
                await own.patch(
                    1, {"count": record["data"]["count"] + 1}, if_changed_at=record["timestamps"]["changed_at"]
                )
                return
            except CosiftError as error:
                assert error.code == "precondition_failed"

    async def main() -> None:
        async with AsyncClient(service.url, KEY) as client:
            await asyncio.gather(*(add(client.database(database.id)) for _ in range(8)))

    asyncio.run(main())
    record = database.get(1)
    assert record is not None and record["data"]["count"] == 8


def test_threads_that_patch_other_columns_all_take_effect(service: Service, database: Database) -> None:
    with Client(service.url, KEY) as client, ThreadPoolExecutor(16) as threads:
        own = client.database(database.id)

        def patch(n: int) -> None:
            own.patch(1, {f"column {n}": n})

        list(threads.map(patch, range(64)))
    record = database.get(1)
    assert record is not None and len(record["data"]) == 65


def test_pages_show_each_record_that_stays_once_while_others_are_written(service: Service, database: Database) -> None:
    kept = [{"id": n, "data": {}, "vector": [1, n]} for n in range(1, 501)]
    database.upsert(kept)

    async def write(own: AsyncDatabase) -> None:
        for turn in range(100):
            await own.upsert([{"id": n, "data": {}, "vector": [turn + 1, n]} for n in range(501, 511)])
            await own.delete([501 + turn % 10])

    async def main() -> list[int]:
        async with AsyncClient(service.url, KEY) as client:
            own = client.database(database.id)
            writer = asyncio.create_task(write(own))
            found = [result["id"] async for result in own.search_all({"vector": [1, 0]}, threshold=0, limit=7)]
            await writer
            return found

    found = [id for id in asyncio.run(main()) if id <= 500]
    assert sorted(found) == list(range(1, 501))
