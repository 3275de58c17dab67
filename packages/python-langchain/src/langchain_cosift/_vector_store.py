"""Documents as records: the text in a column, the metadata in the others, the id as the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import uuid4

from cosift import Database
from cosift.types import Filter, SearchResult, StoredRecord
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

_PAGE_LIMIT = 100
_MAX_DELETES = 1_000
# Every record was synced after it.
_BEGINNING = "0001-01-01"


class CosiftVectorStore(VectorStore):
    """The documents of one database.

    Without ``embedding``, the database has a model, which embeds texts and queries. With ``embedding``, the database was created
    with the ``dimensions`` of its vectors. The text of a document is in the column ``text_column``, and its metadata in the other
    columns: texts, numbers, booleans, None, and lists of them.

    Searches take ``filter``, a filter of cosift, and the other options of ``Database.search``. Scores are relevance scores from
    0 to 1, and a search returns ``k`` documents whatever their scores are, unless it has a ``threshold``. The asynchronous methods
    run in a thread.

    >>> store = CosiftVectorStore(client.create_database("notes", embed={"columns": ["text"]}))
    >>> store.add_texts(["The delivery of the chairs is late"], [{"team": "blue"}])
    >>> store.similarity_search("what is delayed?", filter=equals("team", "blue"))
    """

    def __init__(self, database: Database, embedding: Embeddings | None = None, *, text_column: str = "text") -> None:
        self._database = database
        self._embedding = embedding
        self._text_column = text_column

    @property
    def embeddings(self) -> Embeddings | None:
        return self._embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> CosiftVectorStore:
        """Returns a store with the texts. ``database``, and ``text_column`` if it has another name, are those of the store."""
        store = cls(kwargs.pop("database"), embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Writes documents. One with the id of a stored document replaces it; one without an id gets a new one."""
        ids: Sequence[str | None] = kwargs.pop("ids", None) or [document.id for document in documents]
        if kwargs:
            raise TypeError(f"unknown arguments: {', '.join(kwargs)}")
        if len(ids) != len(documents):
            raise ValueError(f"there are {len(ids)} ids for {len(documents)} documents")
        given = [str(uuid4()) if id is None else id for id in ids]
        self._database.upsert(self._records(documents, given))
        return given

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Deletes the documents with these ids; without ``ids``, all. Ids that there are not do not matter."""
        if kwargs:
            raise TypeError(f"unknown arguments: {', '.join(kwargs)}")
        if ids is None:
            self._database.delete(time_range={"start_time": _BEGINNING})
            return True
        for start in range(0, len(ids), _MAX_DELETES):
            self._database.delete([f"key:{id}" for id in ids[start : start + _MAX_DELETES]])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        records = self._database.get_many([f"key:{id}" for id in ids])
        return [self._document(record) for record in records if record is not None]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(self, *args: Any, **kwargs: Any) -> list[tuple[Document, float]]:
        """Returns documents with their relevance scores: ``similarity_search_with_score(query, k=4, *, filter=None, …)``."""
        return self._scored(*args, **kwargs)

    def similarity_search_by_vector(self, embedding: list[float], k: int = 4, **kwargs: Any) -> list[Document]:
        return [self._document(result) for result in self._found({"vector": embedding}, k, **kwargs)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Chooses ``k`` of the ``fetch_k`` most relevant documents, each for its relevance and against its similarity to those
        chosen before; the larger ``lambda_mult``, from 0 to 1, the more the relevance counts."""
        return self._diverse(self._query(query), k, fetch_k, lambda_mult, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self, embedding: list[float], k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        return self._diverse({"vector": embedding}, k, fetch_k, lambda_mult, **kwargs)

    def _select_relevance_score_fn(self) -> Any:
        return float

    def _records(self, documents: Sequence[Document], ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        texts = [document.page_content for document in documents]
        vectors = None if self._embedding is None else self._embedding.embed_documents(texts)
        for at, document in enumerate(documents):
            if self._text_column in document.metadata:
                detail = f"documents[{at}]: the metadata has {self._text_column!r}, which is the column of the text"
                raise ValueError(f"{detail}: give another `text_column`")
            data = {self._text_column: document.page_content, **document.metadata}
            yield {"key": ids[at], "data": data, **({} if vectors is None else {"vector": vectors[at]})}

    def _document(self, record: StoredRecord) -> Document:
        metadata = dict(record["data"])
        text = metadata.pop(self._text_column, "")
        return Document(id=record.get("key", record["uuid"]), page_content=text, metadata=metadata)

    def _query(self, text: str) -> str | dict[str, list[float]]:
        return text if self._embedding is None else {"vector": self._embedding.embed_query(text)}

    def _scored(self, query: str, k: int = 4, **options: Any) -> list[tuple[Document, float]]:
        found = self._found(self._query(query), k, **options)
        return [(self._document(result), result["relevance_score"]) for result in found]

    def _found(
        self, query: Any, k: int, *, filter: Filter | None = None, threshold: float = 0, **options: Any
    ) -> Iterable[SearchResult]:
        if k < 1:
            return []
        limit = min(k, _PAGE_LIMIT)
        results = self._database.search_all(query, filter=filter, threshold=threshold, limit=limit, **options)
        return islice(results, k)

    def _diverse(self, query: Any, k: int, fetch_k: int, lambda_mult: float, **options: Any) -> list[Document]:
        left = list(self._found(query, fetch_k, vectors=True, **options))
        nearest = [0.0] * len(left)
        chosen: list[SearchResult] = []
        while left and len(chosen) < k:
            gains = [
                lambda_mult * result["relevance_score"] - (1 - lambda_mult) * similarity
                for result, similarity in zip(left, nearest)
            ]
            best = gains.index(max(gains))
            chosen.append(left.pop(best))
            nearest.pop(best)
            nearest = [max(before, _similarity(chosen[-1], result)) for before, result in zip(nearest, left)]
        return [self._document(result) for result in chosen]


def _similarity(one: StoredRecord, other: StoredRecord) -> float:
    """The cosine of the most similar passages."""
    return max(sum(a * b for a, b in zip(x, y)) for x in _vectors(one) for y in _vectors(other))


def _vectors(record: StoredRecord) -> list[list[float]]:
    passages = record.get("passages")
    return [record.get("vector", [])] if passages is None else [passage["vector"] for passage in passages]
