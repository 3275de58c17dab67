"""What the integration tests of LangChain leave open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cosift import CosiftError, Database
from cosift.filters import equals
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding

from langchain_cosift import CosiftVectorStore

Create = Callable[..., Database]
TEXTS = [
    "The Eiffel Tower is a lattice tower in Paris",
    "The Eiffel Tower is a lattice tower in France",
    "Lake Baikal is the deepest lake in the world",
]


@pytest.fixture
def store(create: Create) -> CosiftVectorStore:
    database = create(embed={"columns": ["text"]}, lexical=True)
    store = CosiftVectorStore(database)
    store.add_texts(TEXTS, [{"n": n, "tags": ["a", "b"], "none": None} for n in range(3)], ids=["0", "1", "2"])
    return store


def test_documents_come_back_as_they_are(store: CosiftVectorStore) -> None:
    (document,) = store.similarity_search("deep water", k=1)
    assert document == Document(id="2", page_content=TEXTS[2], metadata={"n": 2, "tags": ["a", "b"], "none": None})


def test_a_filter_and_the_options_of_a_search_are_passed_on(store: CosiftVectorStore) -> None:
    assert [d.id for d in store.similarity_search("a tower", filter=equals("n", 1))] == ["1"]
    assert [d.id for d in store.similarity_search("Baikal", threshold=0.1, lexical=1)] == ["2"]
    with pytest.raises(CosiftError, match="unknown"):
        store.similarity_search("a tower", unknown=1)
    with pytest.raises(CosiftError):
        store.similarity_search("a tower", filter={"column": "n", "operator": "x"})


def test_scores_are_relevance_scores(store: CosiftVectorStore) -> None:
    scored = store.similarity_search_with_relevance_scores("a tall tower", k=3)
    assert scored == store.similarity_search_with_score("a tall tower", k=3)
    assert all(0 <= score <= 1 for _, score in scored)
    best = scored[0][1]
    assert [s for _, s in store.similarity_search_with_relevance_scores("a tall tower", score_threshold=best)] == [best]
    retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": best})
    assert len(retriever.invoke("a tall tower")) == 1


def test_the_next_document_of_a_diverse_search_is_another_one(store: CosiftVectorStore) -> None:
    near = [d.id for d in store.similarity_search("a lattice tower", k=2)]
    assert set(near) == {"0", "1"}
    diverse = [d.id for d in store.max_marginal_relevance_search("a lattice tower", k=2, lambda_mult=0.3)]
    assert diverse == [near[0], "2"]
    assert [d.id for d in store.max_marginal_relevance_search("a lattice tower", k=2, lambda_mult=1)] == near


def test_vectors_are_searched_for(create: Create) -> None:
    embedding = DeterministicFakeEmbedding(size=6)
    store = CosiftVectorStore.from_texts(["a", "b"], embedding, ids=["a", "b"], database=create(dimensions=6))
    vector = embedding.embed_query("b")
    assert store.embeddings is embedding
    assert store.similarity_search_by_vector(vector, k=1)[0].page_content == "b"
    assert store.max_marginal_relevance_search_by_vector(vector, k=1)[0].page_content == "b"


async def test_many_documents_are_found_and_deleted(create: Create) -> None:
    store = CosiftVectorStore(create(dimensions=6), DeterministicFakeEmbedding(size=6))
    ids = await store.aadd_texts([str(n) for n in range(1_500)])
    assert len(await store.asimilarity_search("7", k=250)) == 250
    assert store.similarity_search("7", k=0) == []
    await store.adelete(ids[:1_200])
    assert len(await store.aget_by_ids(ids)) == 300
    await store.adelete()
    assert await store.asimilarity_search("7") == []


def test_what_a_record_cannot_hold_is_refused(store: CosiftVectorStore) -> None:
    with pytest.raises(ValueError, match="the metadata has 'text'"):
        store.add_texts(["a"], [{"text": "b"}])
    with pytest.raises(CosiftError, match="/records/0/data/nested"):
        store.add_texts(["a"], [{"nested": {"a": 1}}])
    with pytest.raises(ValueError, match="1 ids for 2 documents"):
        store.add_documents([Document("a"), Document("b")], ids=["a"])
    with pytest.raises(TypeError, match="unknown"):
        store.add_documents([Document("a")], unknown=1)
