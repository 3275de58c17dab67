"""A service over HTTP."""

from __future__ import annotations

import base64
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from sys import byteorder
from types import TracebackType
from typing import Any, Literal, cast

import httpx
from typing_extensions import Self, Unpack

from .._errors import CosiftError, code_of
from .._json import parsed
from .._lines import SplitLines
from .._requests import Request, database_path, embed_request, given, json_request, path_of, with_query
from ..types import (
    Action,
    Alias,
    DatabaseDescription,
    DatabaseSettings,
    DoctorCheck,
    Filter,
    IssuedKey,
    KeyDescription,
)
from .database import AsyncDatabase
from .transport import AsyncTransport


class AsyncClient:
    """A service over HTTP. A request is sent again after 429, 503 and a lost connection.

    - ``url``: address of the service, such as ``http://127.0.0.1:8080``; ``key``: the value of ``x-api-key``.
    - ``retries``: maximum number of further attempts after a lost connection, and after a failure with status 503. With 0,
      no request is sent again. A write with a condition is not sent again, because the first attempt may have been
      carried out.
    - ``max_wait``: for how many seconds a call tries again as ``Retry-After`` asks while the service refuses it with
      ``busy``, ``rate_limited`` or ``not_ready``.
    - ``timeout``: seconds without a byte from the service after which a connection counts as lost.
    - ``http_client``: used in place of an own one, such as for a proxy or other certificates; ``close`` does not close it.
      Streams of lines do not use it.

    >>> async with AsyncClient("http://127.0.0.1:8080", key="…") as client:
    ...     facts = client.database("facts")
    ...     async for result in facts.search_all("deep water"):
    ...         print(result["id"], result["relevance_score"])
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        retries: int = 4,
        max_wait: float = 60,
        timeout: float = 300,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            url, key, retries=retries, max_wait=max_wait, timeout=timeout, http_client=http_client
        )

    async def create_database(self, id: str, **settings: Unpack[DatabaseSettings]) -> AsyncDatabase:
        """Creates a database, or opens an existing one that has the same settings. Without settings, every string column of a
        record is embedded with the built-in model; with ``dimensions`` alone, records and searches bring their own vectors.

        Raises ``CosiftError``: ``database_exists`` when the database exists with other settings.

        >>> facts = await client.create_database("facts", embed={"columns": ["text"]})
        """
        request = json_request("PUT", database_path(id), settings, "id", "records", whole="the settings")
        await self._transport.json(request)
        return self.database(id)

    def database(self, id: str) -> AsyncDatabase:
        """Returns a handle without checking whether the database exists; if it does not, calls on the handle fail. ``id`` may
        also be an alias."""
        return AsyncDatabase(self._transport, id)

    async def databases(self) -> list[DatabaseDescription]:
        """Describes all databases, ordered by id."""
        databases: list[DatabaseDescription] = await self._list("databases")
        return databases

    async def aliases(self) -> list[Alias]:
        """Returns the aliases and the databases that they name, ordered by name."""
        aliases: list[Alias] = await self._list("aliases")
        return aliases

    async def set_alias(self, name: str, database: str) -> None:
        """Lets an alias name a database from now on.

        Raises ``CosiftError``: ``alias_conflict`` for a name that is the id of a database; ``database_not_found``.
        """
        await self._transport.json(json_request("PUT", path_of("aliases", name), {"database": database}, "name"))

    async def delete_alias(self, name: str) -> None:
        """Deletes an alias. Its database stays."""
        await self._transport.delete(path_of("aliases", name))

    async def embed(
        self, texts: Sequence[str], *, model: str | None = None, kind: Literal["query", "record"] | None = None
    ) -> list[list[float]]:
        """Returns the unit vectors of up to 64 texts, in their order: those that searches for the texts, or records with them,
        get. ``kind`` says whether the texts are searches or texts of records, because some models embed both in different
        ways.

        Raises ``CosiftError``: ``invalid_request`` with a pointer such as ``/texts/3`` for a text that is blank or too long.
        """
        response = await self._transport.json(embed_request(texts, model, kind))
        return [_floats(entry["embedding"]) for entry in response["data"]]

    async def doctor(self) -> AsyncGenerator[DoctorCheck, None]:
        """Checks every database completely while it is served, and yields the outcome of each check. Nothing is changed."""
        lines = SplitLines()
        async for piece, _ in self._transport.stream(Request("POST", "/doctor")):
            for line in lines.add(piece):
                check: Any = parsed(line)
                if "error" in check:
                    raise CosiftError(code_of(check["error"].get("code")), check["error"].get("detail", ""))
                yield cast(DoctorCheck, check)

    async def backup(
        self, database: str | None = None, *, on_progress: Callable[[int, int], object] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yields an archive of all databases, the issued keys and the webhooks, as they are at one moment, for ``cosift restore``;
        or of one database alone. ``on_progress`` is called with the bytes that were read, and all bytes of the archive.

        Raises ``CosiftError``: ``busy`` while another backup is in progress.
        """
        read = 0
        request = Request("GET", with_query("/backup", database=database))
        async for piece, total in self._transport.stream(request):
            read += len(piece)
            if on_progress is not None and total is not None:
                on_progress(read, total)
            if piece:
                yield piece

    async def issue_key(
        self,
        name: str,
        actions: Sequence[Action],
        databases: Sequence[str] | Literal["*"],
        *,
        expires_at: str | None = None,
        filter: Filter | None = None,
    ) -> IssuedKey:
        """Issues a key. ``key`` of the result is its secret, which is shown only here."""
        group = {"rules": [filter]} if filter is not None and "rules" not in filter else filter
        body = given(name=name, actions=actions, databases=databases, expires_at=expires_at, filter=group)
        key: IssuedKey = await self._transport.json(json_request("POST", "/keys", body, "key_id", "key"))
        return key

    async def keys(self) -> list[KeyDescription]:
        """Returns the keys that the key of this client may see, without their secrets."""
        keys: list[KeyDescription] = await self._list("keys")
        return keys

    async def revoke_key(self, key_id: str, *, descendants: bool = False) -> None:
        """Revokes a key; with ``descendants``, also the keys that it issued, directly or through others."""
        await self._transport.delete(with_query(path_of("keys", key_id), descendants=descendants))

    async def close(self) -> None:
        """Closes the connections. Further calls fail with ``not_ready``."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _list(self, name: str) -> Any:
        return (await self._transport.json(Request("GET", f"/{name}", None, (name,))))[name]


def _floats(text: str) -> list[float]:
    """The values of a vector in base64, the lowest byte first."""
    values = array("f", base64.b64decode(text))
    if byteorder == "big":
        values.byteswap()
    return values.tolist()
