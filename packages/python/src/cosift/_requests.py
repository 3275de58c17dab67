"""Requests: the path, the body and what tells whether it may be sent again. Nothing here sends anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, cast
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

from ._codes import ErrorCode
from ._errors import CosiftError, Names, at_place, refused, with_arguments
from ._json import Path, encoded
from .types import BatchSearch, Filter

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

# An integer, a UUID, or `key:` and a key.
RecordId = Union[int, str, UUID]

# The largest limit of a page.
PAGE_LIMIT = 100
_MAX_SEARCHES = 64
# Options that are members of `search` in a request.
_SCORES = ("threshold", "lexical", "prefix", "boosts")


@dataclass(frozen=True)
class Request:
    """A request in the form in which it is sent."""

    method: Method
    path: str
    body: bytes | None = None
    members: tuple[str, ...] = ()
    """Members of the response that a response of another server would lack."""
    names: Names = ()
    """Members of the body and the arguments that they come from. The first that fits counts."""
    is_conditional: bool = False
    """Whether the request has a condition, which it fails if an earlier attempt was carried out."""
    wait: float = 0
    """Seconds for which the service may hold back its response."""

    @property
    def creates_secret(self) -> bool:
        """Whether the request creates a key or a webhook, which a second attempt would do again."""
        return self.method == "POST" and (self.path == "/keys" or self.path.endswith("/webhooks"))


def service_address(url: str) -> str:
    """Returns the address of a service without a slash at its end."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise refused("invalid_request", "/url", f"is {url!r}, must be an address such as http://127.0.0.1:8080")
    return url.rstrip("/")


def header_value(key: str) -> str:
    if not key or not key.isascii() or not key.isprintable():
        raise refused("invalid_request", "/key", "is empty, or has characters that no key has")
    return key


def path_of(*segments: str) -> str:
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def database_path(id: str) -> str:
    return path_of("databases", id)


def record_path(database: str, id: RecordId, **query: object) -> str:
    if isinstance(id, bool) or not isinstance(id, (int, str, UUID)):
        raise refused("invalid_request", "/id", f"is of the type {type(id).__name__}, must be an integer or text")
    return with_query(database + path_of("records", str(id)), **query)


def with_query(path: str, **parameters: object) -> str:
    """Returns the path with the parameters that are given."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in parameters.items()
        if value is not None and value is not False
    }
    return f"{path}?{urlencode(given)}" if given else path


def given(**members: object) -> dict[str, Any]:
    """Returns the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def json_request(
    method: Method,
    path: str,
    body: object,
    *members: str,
    whole: str = "the request",
    names: Names = (),
    code: ErrorCode = "invalid_request",
    is_conditional: bool = False,
) -> Request:
    def code_at(place: Path) -> ErrorCode:
        return "invalid_filter" if place[:1] == ("filter",) else code

    try:
        return Request(method, path, encoded(body, code_at, whole), members, names, is_conditional)
    except CosiftError as error:
        raise with_arguments(error, names) from None


def search_request(path: str, query: object, options: Mapping[str, object]) -> Request:
    body = _search_body(query, options)
    return json_request("POST", f"{path}/search", body, "results", "pagination", names=_names("query", options))


def searches_request(path: str, searches: Sequence[BatchSearch]) -> tuple[Request | None, list[CosiftError | None]]:
    """Returns the request of those searches that are right, and the error of each other one."""
    if not 1 <= len(searches) <= _MAX_SEARCHES:
        raise refused("invalid_request", "/searches", f"has {len(searches)} searches, must have 1 to {_MAX_SEARCHES}")
    bodies: list[object] = []
    errors: list[CosiftError | None] = []
    for at, given in enumerate(searches):
        try:
            options = {name: value for name, value in given.items() if name != "search" and value is not None}
            body = _search_body(given.get("search"), options, "search")
            # Each is checked for itself, so that one that is wrong leaves the others.
            json_request("POST", path, body, names=batch_names(options))
        except CosiftError as error:
            errors.append(at_place(error, f"/searches/{at}"))
        else:
            bodies.append(body)
            errors.append(None)
    request = json_request("POST", f"{path}/searches", {"searches": bodies}, "pages")
    return (request if bodies else None), errors


def batch_names(search: Mapping[str, object]) -> Names:
    return _names("search", search)


def query_request(path: str, options: Mapping[str, object]) -> Request:
    body = _selection(options)
    return json_request("POST", f"{path}/query", body, "results", "pagination", names=_names(None, options))


def map_request(path: str, search: object, options: Mapping[str, object]) -> Request:
    # Weights without anything to search for are sent, too, so that the service refuses them.
    scores = {name: options[name] for name in _SCORES if name in options}
    body = _search_body(search, options, "search") if search is not None else _selection(options)
    if search is None and scores:
        body["search"] = scores
    return json_request("POST", f"{path}/map", body, "points", names=_names("search", options))


def delete_request(path: str, ids: Iterable[object] | None, options: Mapping[str, object]) -> Request:
    listed = None if ids is None else list(ids)
    is_conditional = any(isinstance(id, Mapping) for id in listed or ())
    return json_request(
        "POST",
        f"{path}/records/delete",
        {**given(ids=listed), **_selection(options)},
        "deleted",
        names=_names(None, options),
        is_conditional=is_conditional,
    )


def patch_request(path: str, id: RecordId, changes: Mapping[str, object], if_changed_at: str | None) -> Request:
    return json_request(
        "PATCH",
        record_path(path, id),
        {"data": changes, **given(if_changed_at=if_changed_at)},
        "id",
        whole="the changes",
        code="invalid_record",
        is_conditional=if_changed_at is not None,
    )


def changes_request(path: str, after: int | None, limit: int | None, wait: float | None, epoch: str | None) -> Request:
    seconds = None if wait is None else math.ceil(wait)
    query = with_query(f"{path}/changes", after=after, limit=limit, wait=seconds, epoch=epoch)
    return Request("GET", query, None, ("changes", "position", "epoch"), wait=seconds or 0)


def export_path(path: str, filter: Filter | None, vectors: bool) -> str:
    text = None if filter is None else encoded(_grouped(filter), lambda _: "invalid_filter", "filter").decode()
    return with_query(f"{path}/export", vectors=vectors, filter=text)


def embed_request(texts: Sequence[str], model: str | None, kind: str | None) -> Request:
    if isinstance(texts, str):
        raise refused("invalid_request", "/texts", "is a text, must be a list of texts")
    body = {"input": list(texts), **given(model=model, kind=kind), "encoding_format": "base64"}
    return json_request("POST", "/embeddings", body, "data", names=[("/input", "/texts")])


def _search_body(query: object, options: Mapping[str, object], option: str = "query") -> dict[str, Any]:
    if isinstance(query, str):
        search: dict[str, object] = {"text": query}
    elif isinstance(query, Mapping):
        search = dict(cast("Mapping[str, object]", query))
    else:
        detail = f"is of the type {type(query).__name__}, must be a text, or a dict with a vector or examples"
        raise refused("invalid_request", f"/{option}", detail)
    for name in _SCORES:
        if name in options:
            search[name] = _with_groups(options[name]) if name == "boosts" else options[name]
    return {"search": search, **_selection(options)}


def _selection(options: Mapping[str, object]) -> dict[str, Any]:
    apart = (*_SCORES, "filter", "limit", "cursor")
    body = {name: value for name, value in options.items() if name not in apart}
    if "filter" in options:
        body["filter"] = _grouped(options["filter"])
    pagination = {name: options[name] for name in ("limit", "cursor") if name in options}
    return {**body, "pagination": pagination} if pagination else body


def _names(query: str | None, options: Mapping[str, object]) -> Names:
    names = [("/pagination", "")]
    if _is_rule(options.get("filter")):
        names.append(("/filter/rules/0", "/filter"))
    if query is None:
        return names
    boosts = options.get("boosts")
    for at, boost in enumerate(cast("Sequence[object]", boosts) if isinstance(boosts, (list, tuple)) else ()):
        if isinstance(boost, Mapping) and _is_rule(cast("Mapping[str, object]", boost).get("filter")):
            names.append((f"/search/boosts/{at}/filter/rules/0", f"/boosts/{at}/filter"))
    names += [(f"/search/{name}", f"/{name}") for name in _SCORES]
    return [*names, ("/search/text", f"/{query}"), ("/search", f"/{query}")]


def _grouped(filter: object) -> object:
    """Returns a filter in the form in which a service takes it; any other value as it is."""
    return {"rules": [filter]} if _is_rule(filter) else filter


def _is_rule(filter: object) -> bool:
    return isinstance(filter, Mapping) and "rules" not in filter and ("column" in filter or "operator" in filter)


def _with_groups(boosts: object) -> object:
    """Returns boosts with their filters in the form in which a service takes them."""
    if not isinstance(boosts, (list, tuple)):
        return boosts
    return [_with_group(boost) for boost in cast("Sequence[object]", boosts)]


def _with_group(boost: object) -> object:
    given: Any = boost
    if not isinstance(given, Mapping) or "filter" not in given:
        return boost
    members = cast("Mapping[str, object]", given)
    return {**members, "filter": _grouped(members["filter"])}
