"""Sends requests, and sends them again where that helps."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

import httpx

from .._concurrency import AsyncLimit, async_pause
from .._errors import CosiftError, failure_of, unreachable, with_arguments
from .._json import parsed
from .._lines import LineTarget
from .._requests import Request, header_value, service_address
from .._retries import Attempts

# Asks for records with both ids; other responses have their own types.
_ACCEPT = "application/vnd.cosift+json, */*"

# Requests under way. By default, a service allows 192 searches and 12 writes of a key that the admin key issued.
_MAX_READS = 64
_MAX_WRITES = 8
# Batches of searches, each of which counts as up to 64.
_MAX_BATCHES = 2

_CONNECT_SECONDS = 10


class AsyncTransport:
    def __init__(
        self,
        url: str,
        key: str,
        *,
        retries: int,
        max_wait: float,
        timeout: float,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        self._base = f"{service_address(url)}/v1"
        self._headers = {
            "x-api-key": header_value(key),
            "accept": _ACCEPT,
            # To compress a page takes longer than to send it within a network.
            "accept-encoding": "identity",
        }
        self._retries = retries
        self._max_wait = max_wait
        self._timeout = timeout
        self._owns_client = http_client is None
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=_MAX_READS + _MAX_WRITES)
        self._client = httpx.AsyncClient(limits=limits) if http_client is None else http_client
        self._reads = AsyncLimit(_MAX_READS)
        self._writes = AsyncLimit(_MAX_WRITES)
        self._batches = AsyncLimit(_MAX_BATCHES)
        self._is_closed = False

    async def json(self, request: Request) -> Any:
        """Returns the parsed response, which has the members of the request."""
        response = await self._sent(request)
        try:
            value: Any = parsed(response.content)
        except ValueError:
            raise CosiftError("internal", f"the response of {self._base} is not JSON") from None
        if not isinstance(value, dict) or not set(request.members) <= value.keys():
            raise CosiftError("internal", f"the response of {self._base} is not a cosift response")
        return cast(Any, value)

    async def delete(self, path: str) -> None:
        """Deletes what is at a path."""
        await self._sent(Request("DELETE", path))

    async def stream(self, request: Request) -> AsyncGenerator[tuple[bytes, int | None], None]:
        """Yields the body of a response as it arrives, each piece with the length of the whole if that is known. Only the
        beginning is tried again."""
        response = await self._attempted(request, stream=True)
        length = response.headers.get("content-length")
        total = None if length is None else int(length)
        try:
            if total is not None:
                yield b"", total
            async for piece in response.aiter_raw():
                yield piece, total
        except httpx.TransportError as error:
            raise unreachable(self._base, error) from error
        finally:
            await response.aclose()

    def line_target(self, method: str, path: str) -> LineTarget:
        self._check_open()
        headers = {**self._headers, "content-type": "application/x-ndjson"}
        return LineTarget(method, self._base + path, headers, self._timeout)

    async def close(self) -> None:
        self._is_closed = True
        if self._owns_client:
            await self._client.aclose()

    async def _sent(self, request: Request) -> httpx.Response:
        try:
            return await self._attempted(request, stream=False)
        except CosiftError as error:
            raise (with_arguments(error, request.names) if request.names else error) from error.__cause__

    async def _attempted(self, request: Request, *, stream: bool) -> httpx.Response:
        """Sends a request until it has a response that is no failure."""
        attempts = Attempts(request, retries=self._retries, max_wait=self._max_wait)
        may_be_done = False
        while True:
            cause: Exception | None = None
            try:
                response = await self._exchanged(request, stream)
            except httpx.TransportError as error:
                may_be_done = True
                failure, cause = unreachable(self._base, error), error
                seconds = attempts.after_loss()
            else:
                if response.is_success:
                    return response
                body = await response.aread()
                failure = failure_of(response.status_code, response.headers, body)
                if may_be_done and request.method == "DELETE" and failure.code.endswith("_not_found"):
                    return response
                may_be_done = may_be_done or failure.code == "timed_out"
                seconds = attempts.after_response(response.status_code, response.headers, failure)
            if seconds is None or self._is_closed:
                raise failure from cause
            await async_pause(seconds)

    async def _exchanged(self, request: Request, stream: bool) -> httpx.Response:
        limit = self._limit(request)
        if limit is None:
            return await self._exchange(request, stream)
        async with limit:
            return await self._exchange(request, stream)

    async def _exchange(self, request: Request, stream: bool) -> httpx.Response:
        self._check_open()
        timeout = httpx.Timeout(self._timeout + request.wait, connect=_CONNECT_SECONDS, pool=None)
        headers = self._headers if request.body is None else {**self._headers, "content-type": "application/json"}
        try:
            sent = self._client.build_request(
                request.method, self._base + request.path, content=request.body, headers=headers, timeout=timeout
            )
        except httpx.InvalidURL as error:
            # The other characters of a path are quoted.
            raise CosiftError("headers_too_large", f"the address of the request is too long: {error}") from None
        # A redirect would send the key to another address.
        return await self._client.send(sent, stream=stream, follow_redirects=False)

    def _limit(self, request: Request) -> AsyncLimit | None:
        """Not limited are requests that may last, because a program may read several of them in turn: waits for changes,
        exports, and streams of lines; and changes of databases and keys, which are few."""
        method, path = request.method, request.path.partition("?")[0]
        if path.endswith(("/changes", "/export", "/backup", "/doctor")):
            return None
        if method == "GET" or path.endswith(("/search", "/query", "/map")):
            return self._reads
        if path.endswith("/searches"):
            return self._batches
        return self._writes if "/records" in path else None

    def _check_open(self) -> None:
        if self._is_closed:
            raise CosiftError("not_ready", "the client is closed")
