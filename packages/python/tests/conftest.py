"""The clients of a running service: each test that takes `client` or `create` runs for both."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from cosift import AsyncClient, Client, Database

from .driven import Driven
from .service import KEY, Service

Create = Callable[..., Database]

_names = itertools.count(1)


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.remove()


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.fixture(scope="session", params=["Client", "AsyncClient"])
def connect(request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop) -> Callable[..., Client]:
    """Makes a client of either kind."""

    def connect(url: str, key: str = KEY, **options: Any) -> Client:
        if request.param == "Client":
            return Client(url, key, **options)
        return cast(Client, Driven(AsyncClient(url, key, **options), loop))

    return connect


@pytest.fixture(scope="session")
def client(connect: Callable[..., Client], service: Service) -> Iterator[Client]:
    client = connect(service.url)
    yield client
    client.close()


@pytest.fixture(scope="session")
def create(client: Client) -> Create:
    """Creates an empty database; by default one of vectors with two values."""

    def create(**settings: Any) -> Database:
        given = settings or {"dimensions": 2}
        return client.create_database(f"test-{next(_names)}", **given)

    return create
