"""The asynchronous client as if it were the other one, so that both pass the same tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Generator
from typing import Any

from cosift import AsyncClient, AsyncDatabase

_HANDLES = (AsyncClient, AsyncDatabase)

class Driven:
    """Calls the methods of an asynchronous object on an event loop, and waits for their results."""

    def __init__(self, target: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._target, name)
        return self._method(member) if callable(member) else member

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            result = method(*arguments, **options)
            if inspect.isasyncgen(result):
                return self._items(result)
            if inspect.isawaitable(result):
                result = self._loop.run_until_complete(_result(result))
            return Driven(result, self._loop) if isinstance(result, _HANDLES) else result

        return call

    def _items(self, items: Any) -> Generator[Any, None, None]:
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(items.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(items.aclose())

async def _result(result: Any) -> Any:
    return await result
