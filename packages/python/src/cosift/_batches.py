"""Batches of records to write, and the sum of their results."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from ._codes import ErrorCode
from ._errors import CosiftError, refused
from ._json import Path, encoded
from ._requests import Request
from .types import BatchResult, Problem

_MAX_RECORDS = 1_000
# Bytes after which a batch ends: a service takes 64 MiB.
_MAX_BYTES = 1 << 24

_RECORD = re.compile(r"^(/records/)(\d+)")


class Batch:
    """The records of one batch as JSON. A record is encoded when it is added: the caller may change it afterwards."""

    def __init__(self, before: int = 0, *, identified: bool = True) -> None:
        self._before = before
        self._identified = identified
        self._texts: list[bytes] = []
        self._bytes = 0
        self._is_conditional = False

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def is_full(self) -> bool:
        """Whether the batch has as many records, or as many bytes, as one batch may have."""
        return len(self) == _MAX_RECORDS or self._bytes >= _MAX_BYTES

    def add(self, record: object) -> None:
        """Adds a record. A record without ``id``, ``uuid`` and ``key`` gets a UUID, so that a batch that is sent again after
        a lost response is not stored twice."""
        place: Path = ("records", self._before + len(self))
        if not isinstance(record, Mapping):
            raise _no_record(place, record)
        members = dict(cast("Mapping[str, object]", record))
        if self._identified and all(members.get(name) is None for name in ("id", "uuid", "key")):
            members["uuid"] = uuid7()
        self._is_conditional = self._is_conditional or "if_changed_at" in members
        text = encoded(members, _invalid_record, "the record", place)
        self._texts.append(text)
        self._bytes += len(text)

    def request(self, path: str) -> Request:
        return Request(
            "POST",
            f"{path}/records",
            b'{"records":[' + b",".join(self._texts) + b"]}",
            ("results", "created", "started_at"),
            is_conditional=self._is_conditional,
        )

    def lines(self) -> bytes:
        return b"".join(text + b"\n" for text in self._texts)

    def next(self) -> Batch:
        """The batch after this one."""
        return Batch(self._before + len(self), identified=self._identified)


class Sum:
    """The results of the batches of one upsert."""

    def __init__(self) -> None:
        self._sum: dict[str, Any] = {"results": [], "created": 0, "changed": 0, "unchanged": 0}

    @property
    def committed(self) -> int:
        return len(self._sum["results"])

    @property
    def is_begun(self) -> bool:
        return "started_at" in self._sum

    @property
    def result(self) -> BatchResult:
        return cast(BatchResult, self._sum)

    def add(self, result: BatchResult) -> None:
        self._sum["results"] += result["results"]
        for name in ("created", "changed", "unchanged"):
            self._sum[name] += result[name]
        self._sum.setdefault("started_at", result["started_at"])

    def failure(self, error: CosiftError, *, counted: bool) -> CosiftError:
        """Returns the error of the upsert. ``counted``: its pointers count from the first record of all, not of its batch."""
        before = 0 if counted else self.committed

        def shifted(text: str) -> str:
            return _RECORD.sub(lambda found: f"{found[1]}{int(found[2]) + before}", text)

        problems = [cast(Problem, {**problem, "pointer": shifted(problem["pointer"])}) for problem in error.problems]
        fields = {**error.fields, "committed": self.committed}
        return CosiftError(error.code, shifted(error.detail), problems=problems, fields=fields)


def _invalid_record(_: Path) -> ErrorCode:
    return "invalid_record"


def _no_record(place: Path, record: object) -> CosiftError:
    hint = "; pass the data frame itself" if isinstance(record, str) else ""
    detail = f"is of the type {type(record).__name__}, must be a dict with `data`{hint}"
    return refused("invalid_record", f"/{place[0]}/{place[1]}", detail)


def uuid7() -> str:
    """Returns a UUID of version 7: the milliseconds since 1970, then random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 7 << 76
    return str(UUID(int=value & ~(3 << 62) | 2 << 62))
