"""The two clients are one."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import httpx

from cosift import AsyncClient, AsyncDatabase, Client, Database
from cosift._requests import _SCORES  # pyright: ignore[reportPrivateUsage]

from .service import ROOT, Service


def test_the_client_is_written_from_the_asynchronous_one() -> None:
    script = Path(__file__).parents[1] / "unasync.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_the_options_of_scores_are_those_of_a_search(client: Client, service: Service) -> None:
    """The others are members of a request as they are."""
    components = httpx.get(f"{service.url}/openapi.json").json()["components"]["schemas"]
    assert {*_SCORES, "text", "vector", "like"} == set(components["SearchB"]["properties"])
    assert {"limit", "cursor"} == set(components["Pagination"]["properties"])


def test_the_methods_are_those_of_the_typescript_client() -> None:
    def methods(*files: str) -> set[str]:
        text = "".join((ROOT / "dist" / file).read_text() for file in files)
        names = re.findall(r"^ {4}(?!constructor|static)([a-z]\w*)(?:<.*>)?\(", text, re.MULTILINE)
        return {re.sub("[A-Z]", lambda upper: f"_{upper[0].lower()}", name) for name in names}

    own = {name for name, _ in inspect.getmembers(Client, inspect.isfunction) if name[0] != "_"}
    assert own == methods("client/client.d.ts")
    own = {name for name, _ in inspect.getmembers(Database, inspect.isfunction) if name[0] != "_"}
    # Records of an export as values.
    assert own - {"export"} == methods("api/database.d.ts", "client/remote-database.d.ts")


def test_both_have_the_same_methods() -> None:
    for one, other in ((Client, AsyncClient), (Database, AsyncDatabase)):
        methods = [{name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"} for kind in (one, other)]
        assert methods[0] == methods[1]
        for name in methods[0]:
            parameters = [list(inspect.signature(getattr(kind, name)).parameters) for kind in (one, other)]
            assert parameters[0] == parameters[1], name
