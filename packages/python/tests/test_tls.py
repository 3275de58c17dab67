"""A service behind a proxy that speaks TLS."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cosift import Client, CosiftError

from .service import Service


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem", "-out", "cert.pem", *subject]
    subprocess.run([openssl, "req", *options], cwd=folder, check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.fixture(scope="module")
def address(service: Service, certificate: Path) -> Iterator[str]:
    """The address of a proxy, which passes on what it decrypts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    target = urlsplit(service.url)

    async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                sink.write(data)
                await sink.drain()
        except OSError:
            pass  # One of them has closed the connection.
        finally:
            sink.transport.abort()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other, back = await asyncio.open_connection(target.hostname, target.port)
        await asyncio.gather(copy(reader, back), copy(other, writer))

    async def run() -> None:
        server = await asyncio.start_server(serve, "localhost", 0, ssl=context)
        listening.set_result(server.sockets[0].getsockname()[1])
        async with server:
            await stopped.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    stopped = asyncio.Event()
    listening: Future[int] = Future()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    yield f"https://localhost:{listening.result()}"
    loop.call_soon_threadsafe(stopped.set)
    thread.join()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_requests_and_streams_are_encrypted(
    address: str, certificate: Path, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = connect(address, retries=0)
    for call in (stranger.databases, lambda: list(stranger.database("tls").upsert_lines(b""))):
        with pytest.raises(CosiftError) as failure:
            call()
        assert failure.value.fields["reason"] == "CERTIFICATE_VERIFY_FAILED"
    stranger.close()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client = connect(address)
    database = client.create_database("tls", dimensions=2)
    database.upsert([{"id": 1, "data": {}, "vector": [1, 0]}])
    # The problems arrive while the lines are sent.
    events = database.upsert_lines(f'{{"id":{n},"data":{{}},"vector":[1,2,3]}}\n' for n in range(1, 20_001))
    assert sum(event["type"] == "problem" for event in events) == 20_000
    assert database.replace_all([{"id": 1, "data": {}, "vector": [1, 0]}])["unchanged"] == 1
    client.close()


def test_a_service_without_tls_is_told(service: Service, connect: Callable[..., Client]) -> None:
    client = connect(service.url.replace("http:", "https:"), retries=0)
    with pytest.raises(CosiftError, match="it does not speak TLS"):
        client.databases()
    client.close()
