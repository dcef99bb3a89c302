"""Event streams (server-sent events) that continue after a break without a gap and without a repeat."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._atrium_error import AtriumError
from ._error_of_answer import make_error
from ._http import OpenAnswer
from ._retry import delay_seconds, is_transient

MAX_MESSAGE_BYTES = 2_000_000
"""The largest item has 64 KiB of content, and JSON text is at most six times as long."""


@dataclass(frozen=True)
class StreamMessage:
    """One message of a stream."""

    id: str
    """A cursor: pass it as ``last_event_id`` to continue after this message."""
    event: str
    """The type of the event, ``item``, ``removed``, ``ready`` or ``reset``."""
    data: Any
    """Its data, which ``event`` determines."""


class EventStream:
    """Iterates over the messages of a stream, and connects again whenever the connection ends.

    A new connection continues after the last message that was received. It waits for Retry-After and for a growing
    random delay. The message ``reset`` says that the cursor had expired: read the state again. Close the stream, or use
    it in a ``with`` statement; ``close`` may be called from another thread. The iteration raises the error of a
    connection that cannot succeed, such as ``NotFoundError``, and ``ValueError`` for a credential that is missing.

    Example:
        with atrium.stream_events() as stream:
            for message in stream:
                print(message.event, message.data)
    """

    def __init__(self, connect: Callable[[str | None], OpenAnswer], last_event_id: str | None) -> None:
        self._connect = connect
        self._answer: OpenAnswer | None = None
        self._closed = threading.Event()
        self._messages = self._read()
        self.last_event_id = last_event_id
        """The cursor after the last message that was received. Keep it to continue when your program starts again."""

    def __iter__(self) -> Iterator[StreamMessage]:
        return self

    def __next__(self) -> StreamMessage:
        try:
            return next(self._messages)
        except ValueError:
            # Another thread is in close(), which ends the generator.
            if self._closed.is_set():
                raise StopIteration from None
            raise

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection and the iteration, without an error."""
        self._closed.set()
        answer = self._answer
        if answer is not None:
            answer.end()
        try:
            self._messages.close()
        except ValueError:
            pass  # Another thread is in the iteration, which sees the end.

    def _read(self) -> Generator[StreamMessage, None, None]:
        failures = 0
        while not self._closed.is_set():
            retry_after: float | None = None
            try:
                self._answer = self._connect(self.last_event_id)
                if self._closed.is_set():
                    return
                for block in _blocks_of(self._answer):
                    failures = 0
                    fields = _fields_of(block)
                    cursor = fields.get("id")
                    if "event" in fields and "data" in fields and cursor is not None:
                        message = StreamMessage(cursor, fields["event"], json.loads(fields["data"]))
                        self.last_event_id = cursor
                        yield message
                    elif cursor is not None:
                        self.last_event_id = cursor
                    if self._closed.is_set():
                        return
            except AtriumError as error:
                if self._closed.is_set():
                    return
                if not is_transient(error):
                    raise
                retry_after = error.retry_after
            except (OSError, http.client.HTTPException, ValueError):
                # Where no connection was made, the request cannot be sent: its credential is missing, for example.
                if self._answer is None:
                    raise
                # The connection broke, or was silent for too long.
            finally:
                if self._answer is not None:
                    self._answer.close()
                    self._answer = None
            self._closed.wait(delay_seconds(failures, retry_after))
            failures += 1


def _blocks_of(answer: OpenAnswer) -> Iterator[list[str]]:
    """The lines of each message. Ends where the connection does; a message that was cut off is left out."""
    lines: list[str] = []
    size = 0
    while True:
        line = answer.body.readline(MAX_MESSAGE_BYTES + 1)
        size += len(line)
        if size > MAX_MESSAGE_BYTES:
            raise make_error("A message of the stream is too long", status=answer.status, code="unexpected_answer")
        if not line.endswith(b"\n"):
            return
        text = line.decode("utf-8").rstrip("\r\n")
        if text:
            lines.append(text)
            continue
        if lines:
            yield lines
        lines, size = [], 0


def _fields_of(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and name:
            fields[name] = value.removeprefix(" ")
    return fields
