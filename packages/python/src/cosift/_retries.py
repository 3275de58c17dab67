"""Whether and when a request is sent again, by the rules of the TypeScript client."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping

from ._errors import CosiftError, retry_after
from ._requests import Request

# Codes of a service that did nothing, because it can do nothing at the moment.
_REFUSALS = frozenset({"busy", "rate_limited", "not_ready"})
_FIRST_PAUSE = 0.2
_MAX_PAUSE = 6.4


class Attempts:
    """The attempts of one request. Each method returns the seconds until the next one; None when there is none."""

    def __init__(self, request: Request, *, retries: int, max_wait: float) -> None:
        self._request = request
        self._retries = retries
        self._max_wait = max_wait
        self._failures = 0
        self._refusals = 0
        self._refused_since: float | None = None

    def after_loss(self) -> float | None:
        """After a lost connection."""
        # A second attempt would create a second secret. Every other operation is idempotent, unless it has a condition.
        return None if self._request.creates_secret else self._after_failure(_backoff(self._failures))

    def after_response(self, status: int, headers: Mapping[str, str], error: CosiftError) -> float | None:
        """After a response that reports ``error``."""
        if status not in (429, 503):
            return None
        seconds = retry_after(headers)
        if seconds is None:
            return self._after_failure(_backoff(self._failures))
        # Where a key or a webhook is created, `busy` may mean that there are too many of them already.
        if error.code in _REFUSALS and not (error.code == "busy" and self._request.creates_secret):
            return self._after_refusal(seconds)
        return self._after_failure(seconds)

    def _after_failure(self, pause: float) -> float | None:
        if self._request.is_conditional:
            return None
        self._failures += 1
        return None if self._failures > self._retries or pause > self._max_wait else pause

    def _after_refusal(self, seconds: float) -> float | None:
        if self._retries == 0:
            return None
        now = time.monotonic()
        if self._refused_since is None:
            self._refused_since = now
        pause = max(seconds, _backoff(self._refusals))
        self._refusals += 1
        return None if now - self._refused_since + pause > self._max_wait else pause


def _backoff(failures: int) -> float:
    """Twice as long after each failure, less a random part, so that many callers do not retry together."""
    return float(min(_FIRST_PAUSE * 2.0**failures, _MAX_PAUSE)) * random.uniform(0.5, 1)
