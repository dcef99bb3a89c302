"""The client."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, cast
from urllib.parse import urlsplit

from ._core import Route, Settings
from ._retry import Sleep, with_retries
from .exports import items_of
from .operations import Operations
from .types import AnyEvent, Item

_PAGE_EVENTS = 200


class Atrium(Operations):
    """A client with a method for each operation. Threads may share it.

    A method takes the path's parameters by position, and everything else by name. It returns an ``Answer`` (``data``,
    ``status``, ``headers``), or a ``Page`` for a list. It raises the ``AtriumError`` of the error's code.

    A call that can safely be repeated is retried after a lost answer, 408, 429, 502, 503, 504 and
    ``idempotency_in_progress``: never before Retry-After, with a growing random delay. These are every GET, every PUT,
    and every POST or PATCH that takes an Idempotency-Key, which gets a fresh one, the same for all its attempts. Other
    calls are retried only after 429, unless you pass ``repeatable=True``. Before it repeats a launch, a grant or a
    painting, the client asks the server for the answer that it lost.

    Args:
        base_url: Of the API, such as https://api.example/v1; the origin alone is accepted too. Default: ``ATRIUM_URL``.
        key: A secret (wsk_…) or publishable key (wpk_…). Default: ``ATRIUM_KEY``.
        control_token: The control token of one session (sct_…), for its calls. Default: ``ATRIUM_CONTROL_TOKEN``.
        admin_token: The operator's token, for the operator's calls. Default: ``ATRIUM_ADMIN_TOKEN``.
        timeout: The limit of one attempt with its body, in seconds.
        retries: The largest number of retries after the first attempt.
        sleep: Waits between attempts; for tests.

    Raises:
        ValueError: There is no base URL, or it is not one.

    Example:
        atrium = Atrium("http://localhost:8787/v1", key="wsk_…")
        made = atrium.create_collection(body={"metadata": {"share_title": "A harbour at dusk"}}).data
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        key: str | None = None,
        control_token: str | None = None,
        admin_token: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        sleep: Sleep = time.sleep,
    ) -> None:
        given = _given(base_url, "ATRIUM_URL")
        if not given:
            raise ValueError("Where is Atrium? Pass its base URL, or set ATRIUM_URL, such as http://localhost:8787/v1")
        super().__init__(
            Settings(
                root_url=_root_of(given),
                key=_given(key, "ATRIUM_KEY"),
                control_token=_given(control_token, "ATRIUM_CONTROL_TOKEN"),
                admin_token=_given(admin_token, "ATRIUM_ADMIN_TOKEN"),
                timeout=timeout,
                retries=retries,
                sleep=sleep,
            )
        )

    def iterate_events(self, *, after: int = 0) -> Iterator[AnyEvent]:
        """Iterates over all events after a ``sequence``, in order, until there is nothing new. Needs a secret key.

        Args:
            after: ``sequence`` of the last event that you handled. 0: all events that are stored (30 days).

        Example:
            for event in atrium.iterate_events(after=last):
                last = event["sequence"]
        """
        last = after
        while events := self.list_events(after=last, limit=_PAGE_EVENTS).data:
            yield from cast("list[AnyEvent]", events)
            last = events[-1]["sequence"]

    def iterate_export(
        self,
        id: str,
        *,
        collection_token: str,
        type: str | None = None,
        author: str | None = None,
        approved: bool | None = None,
        archived: bool | None = None,
        hero: bool | None = None,
        access: Literal["owner", "open", "email"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        q: str | None = None,
    ) -> Iterator[Item]:
        """Iterates over the items of an export while they arrive: all of them, or those that the filters leave.

        The arguments are those of ``export_items``. A reader that stops early ends the request.

        Raises:
            NetworkError: The export ended before its last line, so items are missing: start again.
            AtriumError: As ``export_items``.

        Example:
            for item in atrium.iterate_export("col_…", collection_token="cat_…"):
                print(item["content"])
        """
        filters = {"type": type, "author": author, "approved": approved, "archived": archived, "hero": hero}
        query = {**filters, "access": access, "from": from_, "to": to, "q": q}
        route = Route("GET", "/v1/collections/{id}/export", "publishable", raw=True)
        request = self._request(route, {"id": id}, query, None, None, collection_token, None, None)
        opened = with_retries(
            lambda: self._opened(request, "application/x-ndjson"),
            retries=self._settings.retries,
            repeatable=True,
            sleep=self._settings.sleep,
        )
        yield from items_of(opened)

    def close(self) -> None:
        """Closes the connections that are kept open between calls."""
        self._http.close()

    def __enter__(self) -> Atrium:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Atrium({self._settings.root_url!r})"


def _given(value: str | None, name: str) -> str | None:
    """An empty value, such as a setting that was not filled in, is not replaced by the environment's.

    A line break follows what was read from a file.
    """
    given = os.environ.get(name) if value is None else value
    return None if given is None else given.strip()


def _root_of(base_url: str) -> str:
    parts = urlsplit(base_url)
    if "@" in parts.netloc:
        raise ValueError("The base URL must have no user name or password")
    # Reading the port raises ValueError if it is not a number, or too large.
    if parts.port == 0 or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"The base URL must be like https://api.example/v1, not {base_url!r}")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
