"""What a call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Data = TypeVar("Data")
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Answer(Generic[Data]):
    """A successful answer of the API."""

    data: Data
    """What the operation answers, typed as its docstring says. None without a body (204)."""
    status: int
    """The HTTP status."""
    headers: Mapping[str, str] = field(repr=False)
    """By name in lower case."""
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What stands beside ``data``, such as ``next_cursor``."""

    @property
    def request_id(self) -> str | None:
        """Id of the request in the server's log."""
        return self.headers.get("x-request-id")

    @property
    def is_replayed(self) -> bool:
        """Whether this is the stored answer of an earlier call with the same idempotency key."""
        return self.headers.get("idempotency-status") == "replayed"


@dataclass(frozen=True)
class Page(Answer[Data], Generic[Data, Entry]):
    """One page of a list. ``entries`` are those of this page; ``iterate`` also fetches the pages after it."""

    _next: Callable[[str], Page[Data, Entry]] | None = field(default=None, repr=False, compare=False)

    @property
    def entries(self) -> list[Entry]:
        """The entries of this page."""
        entries: list[Entry] = self.data["items"] if isinstance(self.data, dict) else self.data  # type: ignore[assignment]
        return entries

    @property
    def next_cursor(self) -> str | None:
        """Pass it as ``cursor`` for the next page. None: this is the last one."""
        return self.meta.get("next_cursor")

    def pages(self) -> Iterator[Page[Data, Entry]]:
        """This page and those after it. Each is fetched when it is needed; raises what the call raises."""
        page = self
        while True:
            yield page
            if page.next_cursor is None or page._next is None:
                return
            page = page._next(page.next_cursor)

    def iterate(self) -> Iterator[Entry]:
        """The entries of this page and of those after it. Each page is fetched when it is needed.

        If entries are added or removed meanwhile, each other entry comes exactly once.

        Example:
            for item in atrium.list_items("col_…", collection_token="cat_…").iterate():
                print(item["type"])
        """
        for page in self.pages():
            yield from page.entries
