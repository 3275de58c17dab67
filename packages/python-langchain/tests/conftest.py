from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cosift import Client, Database

from tests.service import KEY, Service

_names = itertools.count(1)


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    service = Service()
    with Client(service.url, KEY) as client:
        yield client
    service.remove()


@pytest.fixture
def create(client: Client) -> Callable[..., Database]:
    """Creates an empty database."""

    def create(**settings: Any) -> Database:
        return client.create_database(f"test-{next(_names)}", **settings)

    return create
