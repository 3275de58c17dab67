"""One database of a service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from .._batches import Batch, Sum
from .._concurrency import async_gather, async_pause
from .._errors import CosiftError, at_place, code_of, error_of_problem, refused, with_arguments
from .._frames import records_of
from .._json import parsed
from .._lines import SplitLines, async_exchange_lines
from .._requests import (
    PAGE_LIMIT,
    RecordId,
    Request,
    batch_names,
    changes_request,
    database_path,
    delete_request,
    export_path,
    given,
    json_request,
    map_request,
    patch_request,
    path_of,
    query_request,
    record_path,
    search_request,
    searches_request,
    with_query,
)
from .._sources import AsyncChunks, AsyncRecords, async_each
from ..types import (
    BatchResult,
    BatchSearch,
    Change,
    Changes,
    CreatedWebhook,
    DatabaseChanges,
    DatabaseDescription,
    Filter,
    LineEvent,
    MapOptions,
    Page,
    Points,
    Problem,
    Query,
    QueryOptions,
    Reembedding,
    SearchOptions,
    SearchResult,
    StoredRecord,
    TimeRange,
    WebhookDescription,
)
from .transport import AsyncTransport

_MAX_CHANGES = 1_000
_FIRST_WAIT = 30.0
_MIN_WAIT = 1.0
_POLL_SECONDS = 0.2
_MAX_PROBLEMS = 100


class Replaced(TypedDict):
    """What became of the records of a replacement."""

    created: int
    changed: int
    unchanged: int
    deleted: int


class AsyncDatabase:
    """One database of a service. Every method raises ``CosiftError``: ``database_not_found`` when there is no such database,
    ``invalid_request`` for an argument that is not allowed, and the codes that the method names.

    Made by ``AsyncClient.database`` and ``AsyncClient.create_database``.
    """

    def __init__(self, transport: AsyncTransport, id: str) -> None:
        self.id = id
        """The id of the database."""
        self._transport = transport
        self._path = database_path(id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    async def describe(self) -> DatabaseDescription:
        """Describes the database: settings, columns, number of records, sizes in bytes, times."""
        description: DatabaseDescription = await self._transport.json(Request("GET", self._path, None, ("id", "records")))
        return description

    async def configure(self, **changes: Unpack[DatabaseChanges]) -> DatabaseDescription:
        """Changes settings, and returns the description of the database. What is left out stays, and None removes a setting.

        Raises ``CosiftError``: ``invalid_request`` with a pointer such as ``/defaults/lexical``.

        >>> await facts.configure(lexical=True, defaults={"lexical": 0.3, "limit": 20})
        """
        request = json_request("PATCH", self._path, changes, "id", "records", whole="the changes")
        description: DatabaseDescription = await self._transport.json(request)
        return description

    async def drop(self) -> None:
        """Drops the database with all its records."""
        await self._transport.delete(self._path)

    async def upsert(
        self,
        records: AsyncRecords,
        *,
        id: str | None = None,
        key: str | None = None,
        vector: str | None = None,
        on_progress: Callable[[int], object] | None = None,
    ) -> BatchResult:
        """Writes records, up to 1,000 a commit. Each commit is durable and searchable before the next begins.

        ``records`` are dicts with ``data`` and perhaps ``id``, ``uuid`` or ``key``, from a list or another source; or a data
        frame, of which ``id``, ``key`` and ``vector`` name the columns for these members. The other columns are the data of
        the rows; missing cells are left out. A record without ``id``, ``uuid`` and ``key`` is a new one at each call.

        ``on_progress`` is called after each commit with the number of records that are durable and searchable.

        Raises ``CosiftError``: ``invalid_record`` and the other codes of records, ``precondition_failed``. Pointers such as
        ``/records/1200/data/name`` count from the first record; ``fields["committed"]`` is how many were committed before.

        >>> await facts.upsert([{"id": 1, "data": {"text": "The Eiffel Tower is in Paris", "height_m": 330}}])
        """
        total = Sum()
        batch = Batch()
        sending = False
        try:
            async for record in _source(records, id, key, vector):
                batch.add(record)
                if batch.is_full:
                    sending = True
                    total.add(await self._transport.json(batch.request(self._path)))
                    sending = False
                    batch = batch.next()
                    if on_progress is not None:
                        on_progress(total.committed)
            # Without records, an empty batch gets the time of the store.
            if len(batch) > 0 or not total.is_begun:
                sending = True
                total.add(await self._transport.json(batch.request(self._path)))
                sending = False
                if on_progress is not None:
                    on_progress(total.committed)
        except CosiftError as error:
            raise total.failure(error, counted=not sending) from error.__cause__
        return total.result

    async def upsert_lines(
        self, chunks: AsyncChunks
    ) -> AsyncGenerator[LineEvent, None]:
        """Writes NDJSON, one record a line, such as an open file. Yields each problem of a line, the progress after each
        commit, and a summary at the end. A line with a problem does not prevent the others from being stored."""
        target = self._transport.line_target("POST", f"{self._path}/records")
        async for event in async_exchange_lines(target, _bytes(chunks)):
            yield event

    async def replace_all(
        self,
        records: AsyncRecords,
        *,
        id: str | None = None,
        key: str | None = None,
        vector: str | None = None,
        max_deletes: int | None = None,
        on_progress: Callable[[int], object] | None = None,
    ) -> Replaced:
        """Writes records as ``upsert`` does, then deletes the records that ``records`` lacks. Records that others write meanwhile
        stay. A record without ``id``, ``uuid`` and ``key`` is not valid, because each call would store it again.

        Nothing is deleted unless ``records`` ends without an error and every record is stored. ``max_deletes`` is how many
        records may be deleted. Default: a tenth of the records at the start, or 10 if that is more; none for no records.

        Raises ``CosiftError``: ``deletion_refused`` when a record is not valid, or more than ``max_deletes`` would be deleted.
        """
        problems: list[Problem] = []
        try:
            async for event in self.replace_lines(_lines(_source(records, id, key, vector)), max_deletes=max_deletes):
                if event["type"] == "progress" and on_progress is not None:
                    on_progress(event["committed"])
                if event["type"] == "problem" and len(problems) < _MAX_PROBLEMS:
                    place = f"/records/{event['line'] - 1}{event['pointer']}"
                    problems.append({"pointer": place, "detail": event["detail"], "code": event["code"]})
                if event["type"] == "summary":
                    counts = {name: event[name] for name in ("created", "changed", "unchanged")}
                    return {**counts, "deleted": event.get("deleted", 0)}  # type: ignore[typeddict-item]
        except CosiftError as error:
            if error.code != "deletion_refused" or not problems:
                raise
            detail = f"{error.detail}; {problems[0]['pointer']}: {problems[0]['detail']}"
            raise CosiftError(error.code, detail, problems=problems, fields=error.fields) from None
        raise CosiftError("internal", "the replacement ended without a summary")

    async def replace_lines(
        self, chunks: AsyncChunks, *, max_deletes: int | None = None
    ) -> AsyncGenerator[LineEvent, None]:
        """Writes NDJSON as ``upsert_lines`` does, then deletes the records that the lines lack, as ``replace_all`` does. The
        summary has ``deleted``."""
        target = self._transport.line_target("PUT", with_query(f"{self._path}/records", max_deletes=max_deletes))
        async for event in async_exchange_lines(target, _bytes(chunks)):
            yield event

    async def export(
        self, *, filter: Filter | None = None, vectors: bool = False
    ) -> AsyncGenerator[StoredRecord, None]:
        """Yields all records in the order of the integer ids, as they are at the moment at which the export begins.

        With ``vectors``, a record also has its exact ``vector``, or ``passages``, and ``embedded_by``: imported into a database
        with the same model, nothing is embedded again.
        """
        lines = SplitLines()
        async for chunk in self.export_lines(filter=filter, vectors=vectors):
            for line in lines.add(chunk):
                yield parsed(line)

    async def export_lines(
        self, *, filter: Filter | None = None, vectors: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """Yields the records of ``export`` as NDJSON, in pieces of bytes, which ``upsert_lines`` takes back."""
        request = Request("GET", export_path(self._path, filter, vectors))
        try:
            async for piece, _ in self._transport.stream(request):
                yield piece
        except CosiftError as error:
            if error.code != "headers_too_large":
                raise
            detail = "is longer than the address of an export may be: shorten it, or use `query_all`"
            raise refused("headers_too_large", "/filter", detail, "value_too_long") from None

    async def search(self, query: Query, **options: Unpack[SearchOptions]) -> Page[SearchResult]:
        """Returns one page of the records that are similar in meaning to a text; highest relevance score first, ties by id.

        ``query`` is a text; ``{"vector": [...]}``, with as many values as the database has dimensions; or
        ``{"like": {"positive": [ids], "negative": [ids]}}``, a search by examples. ``SearchOptions`` describes the options:

        - ``filter``: a rule or a group of rules that every result satisfies; ``time_range``: when records were last synced.
        - ``threshold``: minimum score, from 0 to 1. Default: that of the database, or 0.2.
        - ``lexical``: weight of exact words, from 0 to 1; ``prefix``: the last word may be the beginning of a word.
        - ``boosts``: parts of the score that depend on the data and the times of a record.
        - ``limit``: maximum number of results, 1 to 100. Default: that of the database, or 50.
        - ``cursor``: ``next_cursor`` of an earlier page.
        - ``total``, ``facets``: counts of the matches on all pages; ``distinct``: one result for each value of a column.
        - ``columns``: the columns that results show in their ``data``.
        - ``passages``, ``neighbours``, ``highlights``, ``vectors``, ``explain``: further members of results.

        Raises ``CosiftError``: ``invalid_filter``, ``invalid_cursor``, ``invalid_time``, ``invalid_dimensions``.

        >>> page = await facts.search("a tall tower", filter=greater_than("height_m", 300), limit=10)
        """
        page: Page[SearchResult] = await self._transport.json(search_request(self._path, query, given(**options)))
        return page

    async def search_many(self, searches: Sequence[BatchSearch]) -> list[Page[SearchResult] | CosiftError]:
        """Runs up to 64 searches at once. It takes far less time than one after the other, and all pages show the same moment.

        A search is a dict: ``search`` is its query, and the other members are the options of ``search``. Returns a page or an
        error for each search, in their order: a search that is not valid leaves the others.

        >>> pages = await facts.search_many([{"search": text, "limit": 3} for text in ("a tall tower", "a deep lake")])
        """
        request, errors = searches_request(self._path, searches)
        response: Any = {"pages": []} if request is None else await self._transport.json(request)
        found = iter(response["pages"])
        outcomes: list[Page[SearchResult] | CosiftError] = []
        sent = 0
        for at, error in enumerate(errors):
            if error is not None:
                outcomes.append(error)
                continue
            outcome = next(found)
            if "page" in outcome:
                outcomes.append(outcome["page"])
            else:
                own = with_arguments(error_of_problem(outcome["problem"]), [(f"/searches/{sent}", "")])
                outcomes.append(at_place(with_arguments(own, batch_names(searches[at])), f"/searches/{at}"))
            sent += 1
        return outcomes

    async def search_all(
        self, query: Query, **options: Unpack[SearchOptions]
    ) -> AsyncGenerator[SearchResult, None]:
        """Yields every record that a search finds, in the order of ``search``, page after page. ``limit`` is that of a page."""
        left: SearchOptions | None = {"limit": PAGE_LIMIT, **options}
        while left is not None:
            page = await self.search(query, **left)
            for result in page["results"]:
                yield result
            cursor = page["pagination"].get("next_cursor")
            left = None if cursor is None else {**left, "cursor": cursor}

    async def query(self, **options: Unpack[QueryOptions]) -> Page[StoredRecord]:
        """Returns one page of the records that satisfy ``filter`` and ``time_range``, in the order of ``sort``, without scores.
        The other options are those of ``search``, as far as they do not depend on a search.

        >>> page = await facts.query(filter=is_not_empty("height_m"), sort={"column": "height_m"})
        """
        page: Page[StoredRecord] = await self._transport.json(query_request(self._path, given(**options)))
        return page

    async def query_all(self, **options: Unpack[QueryOptions]) -> AsyncGenerator[StoredRecord, None]:
        """Yields every record that satisfies the query, in the order of ``sort``, page after page."""
        left: QueryOptions | None = {"limit": PAGE_LIMIT, **options}
        while left is not None:
            page = await self.query(**left)
            for record in page["results"]:
                yield record
            cursor = page["pagination"].get("next_cursor")
            left = None if cursor is None else {**left, "cursor": cursor}

    async def map(self, search: Query | None = None, **options: Unpack[MapOptions]) -> Points:
        """Puts the first 2,000 matches of a search, or of a query, on a plane: records of similar meaning are near each other.
        A key needs ``records.read``."""
        points: Points = await self._transport.json(map_request(self._path, search, given(**options)))
        return points

    async def get(self, id: RecordId, *, vectors: bool = False) -> StoredRecord | None:
        """Returns a record by its integer id, its UUID, or ``key:`` and its key; None when there is none."""
        path = record_path(self._path, id, vectors=vectors)
        try:
            record: StoredRecord = await self._transport.json(Request("GET", path, None, ("id", "uuid", "data")))
            return record
        except CosiftError as error:
            if error.code == "record_not_found":
                return None
            raise

    async def get_many(self, ids: Iterable[RecordId], *, vectors: bool = False) -> list[StoredRecord | None]:
        """Returns a record for each id, as ``get`` does, in the order of the ids. Each record is read for itself."""
        return await async_gather(self.get(id, vectors=vectors) for id in ids)

    async def patch(
        self, id: RecordId, changes: Mapping[str, object], *, if_changed_at: str | None = None
    ) -> StoredRecord:
        """Changes columns of one record and keeps the others. A column with None is removed.

        With ``if_changed_at``, only a record that was last changed at this time is changed: the ``changed_at`` of its
        ``timestamps``. Returns the record right after the change.

        Raises ``CosiftError``: ``record_not_found``; ``invalid_record`` with a pointer such as ``/data/price``;
        ``precondition_failed``.

        >>> record = await facts.patch(1, {"height_m": 330, "architect": None})
        """
        record: StoredRecord = await self._transport.json(patch_request(self._path, id, changes, if_changed_at))
        return record

    async def delete(
        self,
        ids: Iterable[RecordId | Mapping[str, object]] | None = None,
        *,
        filter: Filter | None = None,
        time_range: TimeRange | None = None,
    ) -> int:
        """Deletes records by ``ids``, up to 1,000, or by ``filter`` and ``time_range``. Returns the number of deleted records.

        An id may be a dict ``{"id": 1, "if_changed_at": time}``. If one of these records was not last changed at its time, none
        is deleted, and the error is ``precondition_failed``.

        >>> deleted = await facts.delete(filter=equals("country", "Atlantis"))
        """
        request = delete_request(self._path, ids, given(filter=filter, time_range=time_range))
        response: dict[str, int] = await self._transport.json(request)
        return response["deleted"]

    async def changes(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        wait: float | None = None,
        epoch: str | None = None,
    ) -> Changes:
        """Returns changes after a position of the change feed, oldest first. Pass ``position`` and ``epoch`` of the result as
        ``after`` and ``epoch`` of the next call. ``wait`` is how many seconds to wait for a first change, rounded up.

        Raises ``CosiftError``: ``feed_restarted`` when the database was created again since ``epoch``; ``changes_removed`` when
        changes after the position are no longer kept.
        """
        changes: Changes = await self._transport.json(changes_request(self._path, after, limit, wait, epoch))
        return changes

    async def follow(
        self, *, after: int | None = None, wait: float = _FIRST_WAIT, epoch: str | None = None
    ) -> AsyncGenerator[Change, None]:
        """Yields every change after a position, and waits for further ones. Fails as ``changes`` does."""
        while True:
            try:
                page = await self.changes(after=after, limit=_MAX_CHANGES, wait=wait, epoch=epoch)
            except CosiftError as error:
                # A service may allow only shorter waits.
                if error.code != "invalid_request" or wait <= _MIN_WAIT:
                    raise
                wait = max(_MIN_WAIT, wait // 2)
                continue
            for change in page["changes"]:
                yield change
            after, epoch = page["position"], page["epoch"]

    async def reembed(
        self, model: str, *, on_progress: Callable[[Reembedding], object] | None = None
    ) -> Reembedding:
        """Gives every record a vector of another model, and waits until that is done. Searches and writes continue meanwhile,
        and the database switches to the new vectors at once.

        Raises ``CosiftError``: ``invalid_request`` when there is no such model; ``reembedding_not_found`` when another caller
        cancels the re-embedding.
        """
        start = json_request("POST", f"{self._path}/reembedding", {"model": model}, "state", "done")
        state: Reembedding = await self._transport.json(start)
        while True:
            if on_progress is not None:
                on_progress(state)
            if state["state"] == "done":
                return state
            problem = state.get("problem")
            if problem is not None:
                raise CosiftError(code_of(problem["code"]), problem["detail"])
            await async_pause(_POLL_SECONDS)
            try:
                state = await self._transport.json(Request("GET", f"{self._path}/reembedding", None, ("state",)))
            except CosiftError as error:
                # A service that was restarted does not remember a re-embedding that is done.
                if error.code != "reembedding_not_found":
                    raise
                described = await self.describe()
                if described["model"] != state["model"]:
                    raise
                state = {**state, "state": "done", "done": described["records"], "records": described["records"]}

    async def cancel_reembedding(self) -> None:
        """Cancels a re-embedding. The database stays as it was.

        Raises ``CosiftError``: ``reembedding_not_found`` when none was begun.
        """
        await self._transport.delete(f"{self._path}/reembedding")

    async def create_webhook(self, url: str, *, after: int | None = None) -> CreatedWebhook:
        """Creates a webhook to which changes are posted. ``secret`` of the result signs them and is shown only here."""
        body = {"url": url, **given(after=after)}
        webhook: CreatedWebhook = await self._transport.json(
            json_request("POST", f"{self._path}/webhooks", body, "webhook_id", "secret")
        )
        return webhook

    async def webhooks(self) -> list[WebhookDescription]:
        """Returns the webhooks of this database with their positions in the change feed."""
        request = Request("GET", f"{self._path}/webhooks", None, ("webhooks",))
        response: dict[Literal["webhooks"], list[WebhookDescription]] = await self._transport.json(request)
        return response["webhooks"]

    async def delete_webhook(self, webhook_id: str) -> None:
        """Deletes a webhook: nothing more is posted to it."""
        await self._transport.delete(self._path + path_of("webhooks", webhook_id))


def _source(records: object, id: str | None, key: str | None, vector: str | None) -> AsyncIterator[object]:
    """Returns the records of a data frame, or of another source."""
    rows = records_of(records, id=id, key=key, vector=vector)
    return async_each(records if rows is None else rows, "records")


async def _lines(records: AsyncIterator[object]) -> AsyncGenerator[bytes, None]:
    """Yields the records as lines, as many at a time as a batch has."""
    batch = Batch(identified=False)
    async for record in records:
        batch.add(record)
        if batch.is_full:
            yield batch.lines()
            batch = batch.next()
    if len(batch) > 0:
        yield batch.lines()


async def _bytes(chunks: AsyncChunks) -> AsyncGenerator[bytes, None]:
    """Yields the chunks as bytes, small ones together: a file yields each line for itself."""
    pieces: list[bytes] = []
    size = 0
    # A text is iterable by characters, and bytes by numbers, so they count as one chunk.
    async for chunk in async_each([chunks] if isinstance(chunks, (str, bytes)) else chunks, "chunks"):
        if not isinstance(chunk, (str, bytes)):
            raise refused("invalid_request", "/chunks", f"has a {type(chunk).__name__}, must have bytes or text")
        piece = chunk.encode() if isinstance(chunk, str) else chunk
        pieces.append(piece)
        size += len(piece)
        if size >= 1 << 16:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)
