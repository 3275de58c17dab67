"""When a request is sent again, and how failures of the connection are told."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from cosift import AsyncClient, Client, CosiftError

from .driven import Driven

URL = "http://service.test:9"
WRITTEN = {"results": [], "created": 0, "changed": 0, "unchanged": 0, "started_at": "2026-01-31T12:00:00.000Z"}


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "detail": "told", "request_id": "r"}, headers=headers)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The seconds of each pause, which takes no time."""
    pauses: list[float] = []

    async def async_pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("cosift._sync.transport.pause", pauses.append)
    monkeypatch.setattr("cosift._async.transport.async_pause", async_pause)
    yield pauses


@pytest.fixture(params=["Client", "AsyncClient"])
def client(request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    """Makes a client whose service gives the answers in turn, and has the requests as `sent`."""

    def client(*answers: Any, **options: Any) -> Any:
        sent: list[httpx.Request] = []
        left = list(answers)

        def answer(request: httpx.Request) -> httpx.Response:
            sent.append(request)
            next = left.pop(0)
            if isinstance(next, Exception):
                raise next
            # A response can be sent once.
            return httpx.Response(next.status_code, content=next.content, headers=next.headers)

        transport = httpx.MockTransport(answer)
        if request.param == "Client":
            made: Any = Client(URL, "key", http_client=httpx.Client(transport=transport), **options)
        else:
            made = Driven(AsyncClient(URL, "key", http_client=httpx.AsyncClient(transport=transport), **options), loop)
        made.sent = sent
        return made

    return client


LOST = httpx.ReadError("connection reset")
OK = httpx.Response(200, json={"id": "a", "records": 1})
BUSY = problem(503, "busy", **{"retry-after": "3"})


def test_a_request_has_the_key_and_the_form_with_both_ids(client: Callable[..., Any], pauses: list[float]) -> None:
    service = client(OK)
    assert service.database("a").describe() == {"id": "a", "records": 1}
    (request,) = service.sent
    assert request.url == f"{URL}/v1/databases/a"
    assert request.headers["x-api-key"] == "key"
    assert request.headers["accept"] == "application/vnd.cosift+json, */*"
    assert pauses == []


@pytest.mark.parametrize("answer", [LOST, httpx.ConnectTimeout("late"), httpx.RemoteProtocolError("bad"), problem(503, "timed_out")])
def test_a_lost_request_is_sent_again_four_times(client: Callable[..., Any], pauses: list[float], answer: Any) -> None:
    service = client(answer, answer, answer, answer, OK)
    service.database("a").describe()
    assert len(service.sent) == 5
    assert all(0.1 * 2**n <= pause <= 0.2 * 2**n for n, pause in enumerate(pauses))
    service = client(*[answer] * 5)
    with pytest.raises(CosiftError) as failure:
        service.database("a").describe()
    assert failure.value.code in ("unreachable", "timed_out") and len(service.sent) == 5
    service = client(answer, retries=0)
    with pytest.raises(CosiftError):
        service.database("a").describe()


def test_a_refused_request_waits_as_the_service_asks(client: Callable[..., Any], pauses: list[float]) -> None:
    service = client(*[BUSY] * 6, OK)
    service.database("a").describe()
    assert pauses[:4] == [3] * 4
    service = client(BUSY, max_wait=2)
    with pytest.raises(CosiftError) as failure:
        service.database("a").describe()
    assert (failure.value.code, failure.value.fields) == ("busy", {"request_id": "r", "retry_after": 3})
    service = client(BUSY, retries=0)
    with pytest.raises(CosiftError):
        service.database("a").describe()
    service = client(problem(429, "rate_limited", **{"retry-after": "0"}), OK)
    service.database("a").describe()
    assert len(service.sent) == 2


def test_no_other_failure_is_sent_again(client: Callable[..., Any], pauses: list[float]) -> None:
    for status, code in ((400, "invalid_request"), (404, "database_not_found"), (500, "internal"), (507, "disk_full")):
        service = client(problem(status, code))
        with pytest.raises(CosiftError) as failure:
            service.database("a").describe()
        assert (failure.value.code, failure.value.status) == (code, status)
    assert pauses == []


def test_a_request_that_creates_a_secret_is_not_sent_again(client: Callable[..., Any], pauses: list[float]) -> None:
    creations: list[Callable[[Any], object]] = [
        lambda service: service.issue_key("name", ["search"], "*"),
        lambda service: service.database("a").create_webhook("https://example.com"),
    ]
    for create in creations:
        service = client(LOST)
        with pytest.raises(CosiftError) as failure:
            create(service)
        assert failure.value.code == "unreachable"
        # Too many of them already, perhaps.
        service = client(*[BUSY] * 5)
        with pytest.raises(CosiftError):
            create(service)
        assert len(service.sent) == 5


def test_a_write_with_a_condition_is_not_sent_again_after_a_loss(client: Callable[..., Any], pauses: list[float]) -> None:
    time = "2026-01-31T12:00:00.000Z"
    writes: list[Callable[[Any], object]] = [
        lambda database: database.upsert([{"id": 1, "data": {}, "if_changed_at": time}]),
        lambda database: database.patch(1, {}, if_changed_at=time),
        lambda database: database.delete([{"id": 1, "if_changed_at": time}]),
    ]
    for write in writes:
        service = client(LOST)
        with pytest.raises(CosiftError) as failure:
            write(service.database("a"))
        assert failure.value.code == "unreachable"
    service = client(BUSY, httpx.Response(200, json=WRITTEN))
    service.database("a").upsert([{"id": 1, "data": {}, "if_changed_at": None}])
    assert len(service.sent) == 2


def test_a_batch_that_is_sent_again_has_the_same_uuids(client: Callable[..., Any], pauses: list[float]) -> None:
    service = client(LOST, httpx.Response(200, json=WRITTEN))
    service.database("a").upsert([{"data": {"n": 1}}, {"key": "k", "data": {}}])
    first, second = (json.loads(request.content) for request in service.sent)
    assert first == second
    assert first["records"][0]["uuid"] and first["records"][1] == {"key": "k", "data": {}}


def test_what_an_earlier_attempt_may_have_deleted_is_no_failure(client: Callable[..., Any], pauses: list[float]) -> None:
    client(LOST, problem(404, "database_not_found")).database("a").drop()
    with pytest.raises(CosiftError) as failure:
        client(problem(404, "database_not_found")).database("a").drop()
    assert failure.value.code == "database_not_found"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (httpx.Response(200, text="<html>"), "is not JSON"),
        (httpx.Response(200, json=[]), "is not a cosift response"),
        (httpx.Response(200, json={"results": []}), "is not a cosift response"),
        (httpx.Response(502, text="<html>"), "the server answered 502, which is not a cosift response"),
        (httpx.Response(307, headers={"location": "https://other.test/"}), "redirects to https://other.test/"),
    ],
)
def test_a_response_of_another_server_is_told(client: Callable[..., Any], answer: Any, told: str) -> None:
    with pytest.raises(CosiftError, match=told) as failure:
        client(answer).database("a").search("text")
    assert failure.value.code == "internal"


@pytest.mark.parametrize(
    ("url", "key", "pointer"),
    [("127.0.0.1:8080", "key", "/url"), ("ftp://a", "key", "/url"), ("http://", "key", "/url"), (URL, "", "/key"), (URL, "a\n", "/key")],
)
def test_what_is_no_address_or_key_is_refused(url: str, key: str, pointer: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(CosiftError) as refusal:
            kind(url, key)
        assert (refusal.value.code, refusal.value.problems[0]["pointer"]) == ("invalid_request", pointer)


def test_an_unreachable_service_is_named(loop: asyncio.AbstractEventLoop, pauses: list[float]) -> None:
    for client in (Client("http://127.0.0.1:9", "key"), Driven(AsyncClient("http://127.0.0.1:9", "key"), loop)):
        for call in (client.databases, partial(next, client.database("a").upsert_lines(b""))):
            with pytest.raises(CosiftError) as failure:
                call()
            assert failure.value.fields == {"host": "127.0.0.1", "port": 9, "reason": "ECONNREFUSED"}
            assert "nothing listens there" in failure.value.detail
        client.close()


def test_the_requests_of_a_program_do_not_exceed_the_limits() -> None:
    running: dict[str, int] = {"GET": 0, "POST": 0}
    most = dict(running)

    async def answer(request: httpx.Request) -> httpx.Response:
        running[request.method] += 1
        most[request.method] = max(most[request.method], running[request.method])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running[request.method] -= 1
        return httpx.Response(200, json={"id": 1, "uuid": "u", "data": {}, **WRITTEN})

    async def main() -> None:
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        database = AsyncClient(URL, "key", http_client=http_client).database("a")
        assert len(await database.get_many(range(1, 301))) == 300
        await asyncio.gather(*(database.upsert([]) for _ in range(100)))

    asyncio.run(main())
    assert most == {"GET": 64, "POST": 8}


def test_a_failure_ends_the_calls_beside_it(client: Callable[..., Any]) -> None:
    service = client(*[problem(400, "invalid_request")] * 3)
    with pytest.raises(CosiftError) as failure:
        service.database("a").get_many([1, 2, 3])
    assert failure.value.code == "invalid_request"


def test_an_error_can_be_pickled() -> None:
    error = CosiftError("busy", "told", problems=[{"pointer": "/a", "detail": "d", "code": "wrong_type"}], fields={"limit": 3})
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.detail, copy.status, copy.problems, copy.fields) == ("busy", "told", 503, error.problems, {"limit": 3})


def test_a_code_of_a_later_release_is_internal(client: Callable[..., Any]) -> None:
    with pytest.raises(CosiftError) as failure:
        client(problem(418, "new_code")).databases()
    assert failure.value.code == "internal" and failure.value.detail == "told"
