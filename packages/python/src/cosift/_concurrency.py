"""What the two clients do in different ways: pauses, limits, and calls side by side. ``async_`` marks one of a pair."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Iterable
from typing import TypeVar

import anyio

Item = TypeVar("Item")

pause = time.sleep
async_pause = anyio.sleep

Limit = threading.Semaphore
AsyncLimit = anyio.Semaphore


def gather(results: Iterable[Item]) -> list[Item]:
    return list(results)


async def async_gather(calls: Iterable[Awaitable[Item]]) -> list[Item]:
    """Returns the results of calls that run side by side. The first failure ends the others."""
    results: dict[int, Item] = {}
    failures: list[BaseException] = []

    async def run(at: int, call: Awaitable[Item]) -> None:
        try:
            results[at] = await call
        except Exception as error:
            failures.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for at, call in enumerate(calls):
            group.start_soon(run, at, call)
    if failures:
        raise failures[0]
    return [results[at] for at in range(len(results))]
