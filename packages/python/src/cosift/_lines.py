"""Streams of lines: the response is read while the request is sent, which HTTP clients do not offer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import h11
import httpx
from anyio.abc import ByteStream
from anyio.from_thread import start_blocking_portal

from ._errors import CosiftError, code_of, failure_of, unreachable
from ._json import parsed
from .types import LineEvent

_READ_BYTES = 1 << 16
_CONNECT_SECONDS = 10


class SplitLines:
    """The lines of a body that arrives in pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, piece: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return lines

    def end(self) -> list[bytes]:
        return [self._rest] if self._rest else []


@dataclass(frozen=True)
class LineTarget:
    """Where lines are sent."""

    method: str
    url: str
    headers: dict[str, str]
    timeout: float


class LineExchange:
    """One request of lines and its response."""

    def __init__(self, target: LineTarget, stream: ByteStream) -> None:
        self._target = target
        self._stream = stream
        self._connection = h11.Connection(h11.CLIENT)
        self._response: h11.Response | None = None
        self._lines = SplitLines()
        self._body = b""
        self._events: list[LineEvent] = []
        self._failure: BaseException | None = None
        self._summarized = False
        self._is_ended = False
        self.is_over = False
        """Whether the response has ended, or the connection: nothing more is sent."""

    @staticmethod
    async def open(target: LineTarget) -> LineExchange:
        parts = urlsplit(target.url)
        host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
        stream: ByteStream
        try:
            with anyio.fail_after(_CONNECT_SECONDS):
                if parts.scheme == "https":
                    context = httpx.create_ssl_context()
                    stream = await anyio.connect_tcp(host, port, ssl_context=context, tls_standard_compatible=False)
                else:
                    stream = await anyio.connect_tcp(host, port)
        except OSError as error:
            raise unreachable(target.url, error) from error
        exchange = LineExchange(target, stream)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        headers = {"host": parts.netloc, "transfer-encoding": "chunked", **target.headers}
        await exchange._send(h11.Request(method=target.method, target=path, headers=list(headers.items())))
        return exchange

    async def send(self, chunk: bytes) -> list[LineEvent]:
        """Sends a chunk. Returns the events that have arrived."""
        await self._send(h11.Data(data=chunk))
        return self._arrived()

    async def finish(self) -> list[LineEvent]:
        """Ends the request at the first call. Returns the next events; none at the end of the response."""
        if not self._is_ended:
            self._is_ended = True
            await self._send(h11.EndOfMessage())
        while not self._events and not self.is_over:
            try:
                with anyio.fail_after(self._target.timeout):
                    await self._receive()
            except TimeoutError as error:
                raise unreachable(self._target.url, error) from error
        events = self._arrived()
        if not events:
            self._check_end()
        return events

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()
            # The socket is closed in the next turn of the loop.
            await anyio.sleep(0)

    async def _send(self, event: h11.Request | h11.Data | h11.EndOfMessage) -> None:
        if self._is_refused or self.is_over:
            return
        data = self._connection.send(event)
        # The service stops reading while nobody reads its response.
        async with anyio.create_task_group() as group:
            group.start_soon(self._receive_all, group.cancel_scope)
            try:
                await self._stream.send(data or b"")
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # The response may say why.
            group.cancel_scope.cancel()

    async def _receive_all(self, sending: anyio.CancelScope) -> None:
        """Receives until the data is sent, or need not be sent any more."""
        while not (self._is_refused or self.is_over):
            await self._receive()
        sending.cancel()

    @property
    def _is_refused(self) -> bool:
        """Whether the service need not read the request to its end. Its response says why."""
        return self._response is not None and self._response.status_code != 200

    async def _receive(self) -> None:
        try:
            data = await self._stream.receive(_READ_BYTES)
        except anyio.EndOfStream:
            data = b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            self._failure = error
            self.is_over = True
            return
        try:
            self._connection.receive_data(data)
            self._take()
        except h11.RemoteProtocolError as error:
            self._failure = error
            self.is_over = True

    def _take(self) -> None:
        """Takes what has been received."""
        while not self.is_over:
            event = self._connection.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                return
            if isinstance(event, h11.Response):
                self._response = event
            elif isinstance(event, h11.Data):
                self._take_body(bytes(event.data))
            elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                self._take_events(self._lines.end())
                self.is_over = True

    def _take_body(self, data: bytes) -> None:
        if self._is_refused:
            self._body += data
        else:
            self._take_events(self._lines.add(data))

    def _take_events(self, lines: list[bytes]) -> None:
        for line in lines:
            try:
                event: Any = parsed(line)
                type = event["type"]
            except (ValueError, KeyError, TypeError):
                self._failure = CosiftError("internal", f"the response of {self._target.url} is not a cosift response")
                self.is_over = True
                return
            if type == "error":
                fields = {name: event[name] for name in event if name not in ("type", "code", "detail")}
                self._failure = CosiftError(code_of(event["code"]), event["detail"], fields=fields)
            else:
                self._events.append(cast(LineEvent, event))

    def _arrived(self) -> list[LineEvent]:
        events, self._events = self._events, []
        if events:
            self._summarized = events[-1]["type"] == "summary"
        return events

    def _check_end(self) -> None:
        """Raises what ended the exchange, unless the last event was the summary."""
        if isinstance(self._failure, CosiftError):
            raise self._failure
        response = self._response
        if response is not None and self._is_refused:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in response.headers}
            raise failure_of(response.status_code, headers, self._body)
        if not self._summarized:
            error = self._failure or EOFError("the connection was closed before the end of the response")
            raise unreachable(self._target.url, error) from error


def exchange_lines(target: LineTarget, chunks: Iterator[bytes]) -> Generator[LineEvent, None, None]:
    """Sends chunks and yields the events of the response. The chunks are read where the events are."""
    with start_blocking_portal() as portal:
        exchange = portal.call(LineExchange.open, target)
        try:
            for chunk in chunks:
                yield from portal.call(exchange.send, chunk)
                if exchange.is_over:
                    break
            while events := portal.call(exchange.finish):
                yield from events
        finally:
            portal.call(exchange.close)


async def async_exchange_lines(target: LineTarget, chunks: AsyncIterator[bytes]) -> AsyncGenerator[LineEvent, None]:
    """Sends chunks and yields the events of the response."""
    exchange = await LineExchange.open(target)
    try:
        async for chunk in chunks:
            for event in await exchange.send(chunk):
                yield event
            if exchange.is_over:
                break
        while events := await exchange.finish():
            for event in events:
                yield event
    finally:
        await exchange.close()
