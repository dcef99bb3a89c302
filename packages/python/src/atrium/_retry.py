"""When and how long after a failure the same call is tried again. The same rules as the TypeScript client's."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ._atrium_error import AtriumError

T = TypeVar("T")
Sleep = Callable[[float], None]

_BASE_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 8.0
_MAX_RETRY_AFTER_SECONDS = 60.0
"""A longer Retry-After than this is not awaited; the error is raised to the caller."""
_LONGEST_WAIT_SECONDS = 3_600.0
_TRANSIENT = frozenset({0, 408, 429, 502, 503, 504})


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed a little later: there was no answer, or one from a proxy."""
    return isinstance(error, AtriumError) and error.status in _TRANSIENT


def delay_seconds(tried: int, retry_after: float | None) -> float:
    """The delay before a retry.

    It grows with each attempt and is random, to spread clients that failed together, and never below Retry-After.
    """
    backoff = min(_MAX_BACKOFF_SECONDS, _BASE_SECONDS * 2.0 ** min(tried, 10))
    return min((retry_after or 0.0) + random.random() * backoff, _LONGEST_WAIT_SECONDS)


def may_retry(error: AtriumError, repeatable: bool) -> bool:
    """Whether the call may run again. A 429 is always retried, because the call had no effect."""
    return error.status == 429 or (repeatable and (error.code == "idempotency_in_progress" or is_transient(error)))


def with_retries(attempt: Callable[[], T], *, retries: int, repeatable: bool, sleep: Sleep = time.sleep) -> T:
    """Calls ``attempt`` until it succeeds, fails permanently, or no retries are left."""
    tried = 0
    while True:
        try:
            return attempt()
        except AtriumError as error:
            is_too_long = (error.retry_after or 0.0) > _MAX_RETRY_AFTER_SECONDS
            if tried >= retries or is_too_long or not may_retry(error, repeatable):
                raise
            pause = delay_seconds(tried, error.retry_after)
        tried += 1
        sleep(pause)


def retry_after_of(value: str | None) -> float | None:
    """Retry-After in its two forms (RFC 9110): seconds, or a date."""
    text = (value or "").strip()
    # Some proxies send fractions, which RFC 9110 does not have.
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text[:12])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
