"""The error of every call, and the errors that responses report."""

from __future__ import annotations

import errno
import json
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from ._codes import STATUSES, ErrorCode
from .types import Problem


class CosiftError(Exception):
    """The error that every call raises.

    ``code`` is for programs and never renamed; ``docs/reference/errors.md`` lists all codes. ``problems`` has a JSON
    pointer to each argument that is wrong, such as ``/filter/rules/1/operator``. ``fields`` has facts of some codes, such
    as ``committed`` after an upsert that failed.
    """

    code: ErrorCode
    detail: str
    status: int
    problems: list[Problem]
    fields: dict[str, Any]

    def __init__(
        self,
        code: ErrorCode,
        detail: str,
        *,
        problems: Iterable[Problem] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = STATUSES[code]
        self.problems = list(problems)
        self.fields = dict(fields or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.code, self.detail, self.problems, self.fields)


def _restored(code: ErrorCode, detail: str, problems: list[Problem], fields: dict[str, Any]) -> CosiftError:
    return CosiftError(code, detail, problems=problems, fields=fields)


def refused(
    code: ErrorCode, pointer: str, detail: str, problem_code: str = "wrong_type"
) -> CosiftError:
    """Returns the error of an argument that is wrong."""
    problem = cast(Problem, {"pointer": pointer, "detail": detail, "code": problem_code})
    return CosiftError(code, f"{pointer}: {detail}", problems=[problem])


# A member of a request, and the argument that it comes from.
Names = Sequence[tuple[str, str]]


def with_arguments(error: CosiftError, names: Names) -> CosiftError:
    """Returns the error with the names of arguments in place of the members of the request."""

    def argument(pointer: str) -> str:
        for member, name in names:
            if pointer == member or pointer.startswith(f"{member}/"):
                return name + pointer[len(member) :]
        return pointer

    return _rewritten(error, argument)


def at_place(error: CosiftError, place: str) -> CosiftError:
    """Returns the error of a part of the arguments, with pointers from ``place``."""
    return _rewritten(error, lambda pointer: place + pointer, otherwise=f"{place}: ")


def _rewritten(error: CosiftError, rewrite: Callable[[str], str], otherwise: str = "") -> CosiftError:
    first = error.problems[0]["pointer"] if error.problems else ""
    if first and error.detail.startswith(f"{first}: "):
        detail = rewrite(first) + error.detail[len(first) :]
    else:
        detail = otherwise + error.detail
    problems = [cast(Problem, {**problem, "pointer": rewrite(problem["pointer"])}) for problem in error.problems]
    return CosiftError(error.code, detail, problems=problems, fields=error.fields)


def error_of_problem(problem: Mapping[str, Any], further: Mapping[str, Any] | None = None) -> CosiftError:
    """Returns the error that the body of a problem reports."""
    told = {"type", "title", "status", "code", "detail", "errors"}
    # What is not for people is a fact: `request_id` and the facts of the code.
    fields = {name: value for name, value in problem.items() if name not in told}
    return CosiftError(
        code_of(problem["code"]),
        str(problem["detail"]),
        problems=problem.get("errors", ()),
        fields={**fields, **(further or {})},
    )


def code_of(code: object) -> ErrorCode:
    """Returns the code, or ``internal`` for one that this release does not know."""
    codes: dict[object, ErrorCode] = {known: known for known in STATUSES}
    return codes.get(code, "internal")


def failure_of(status: int, headers: Mapping[str, str], body: bytes) -> CosiftError:
    """Returns the error that a response without success reports."""
    after = retry_after(headers)
    wait = {} if after is None else {"retry_after": after}
    problem: Any = None
    try:
        problem = json.loads(body)
    except ValueError:
        pass  # The response comes from a proxy or another server.
    if isinstance(problem, dict) and "code" in problem and "detail" in problem:
        return error_of_problem(cast("dict[str, Any]", problem), wait)
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return CosiftError("internal", f"the server redirects to {target}, which is not followed: use that address")
    fields = {"status": status, "body": body[:200].decode(errors="replace"), **wait}
    return CosiftError("internal", f"the server answered {status}, which is not a cosift response", fields=fields)


def retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None


_CLOSED = "the connection was closed before the response; the request may have been carried out"
_NO_TLS = "it does not speak TLS; check whether the address begins with http or https"
_MEANINGS = {
    "ECONNREFUSED": "nothing listens there; `cosift serve` starts a service",
    "EHOSTUNREACH": "there is no route to it",
    "ENETUNREACH": "there is no route to it",
    "ETIMEDOUT": "no connection was made in time; check the address and firewalls",
    "ConnectTimeout": "no connection was made in time; check the address and firewalls",
    "ReadTimeout": "no response came in time",
    "TimeoutError": "no response came in time",
    "ECONNRESET": _CLOSED,
    "EPIPE": _CLOSED,
    "RemoteProtocolError": _CLOSED,
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
}


def unreachable(url: str, error: BaseException) -> CosiftError:
    """Returns the error of a request without a response: ``host``, ``port`` and ``reason`` are in its fields."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    reason = _reason(error)
    meaning = _MEANINGS.get(reason) or str(error) or reason
    detail = f"the service at {parts.scheme}://{parts.netloc} cannot be reached: {meaning} ({reason})"
    return CosiftError("unreachable", detail, fields={"host": parts.hostname, "port": port, "reason": reason})


def _reason(error: BaseException) -> str:
    """Finds the code of the operating system or of TLS: clients nest causes, and each address of a host has an error of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError) and cause.reason:
            return cause.reason
        code = errno.errorcode.get(cause.errno or 0) if isinstance(cause, OSError) else None
        if code is not None:
            return code
        nested: Sequence[BaseException] = getattr(cause, "exceptions", ())
        cause = nested[0] if nested else cause.__cause__ or cause.__context__
    return type(error).__name__
