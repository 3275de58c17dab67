"""The integration tests of LangChain for vector stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from cosift import Database
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from langchain_cosift import CosiftVectorStore


class TestCosiftVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, create: Callable[..., Database]) -> Iterator[VectorStore]:
        database = create(dimensions=6)
        yield CosiftVectorStore(database, self.get_embeddings())
        database.drop()


class TestModelOfTheDatabase(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, create: Callable[..., Database]) -> Iterator[VectorStore]:
        database = create(embed={"columns": ["text"]})
        yield CosiftVectorStore(database)
        database.drop()
