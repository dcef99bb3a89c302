"""A room: read it, write to it, follow it, open its history."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from .._atrium_error import AtriumError
from .._core import no_answer
from .._error_of_answer import error_of_answer, json_of, make_error
from .._http import Http, HttpRequest, TooLargeError, user_agent
from .._retry import Sleep, delay_seconds, is_transient, with_retries
from .._version import VERSION
from ..errors import NotFoundError
from ..types import SpaceChanged, SpaceEntry, SpacePollAnswer, SpaceSealedAnswer, SpaceTurnAnswer
from .history import History, open_history
from .identity import RoomIdentity, identity_fields, to_json
from .lines import line_hash
from .room_secret import RoomSecret, parse_room_link, random_id

_HOLD_MS = 25_000
"""The long poll time that is requested from the server."""
_PAGE_LINES = 500
_IDLE_SECONDS = 1.0
"""An empty answer that arrives sooner than this was not a long poll."""
_SEALED_EXTRA_SECONDS = 110.0
"""The largest room has 64 MiB."""
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_MAX_SEALED_BYTES = 96 * 1024 * 1024
_PAST_THE_END = 2**53 - 1

Identity = RoomIdentity | Callable[[], RoomIdentity | None] | None


class RewrittenHistoryError(Exception):
    """The room no longer contains the lines that were read: its history was rewritten, or replaced by an older copy."""


class Room:
    """A room of the Space service.

    Every method raises ``AtriumError``: ``NotAuthorizedError`` (``reason`` names the failed check), ``NotFoundError``
    for a room that does not exist, ``RateLimitedError``, ``NetworkError``. Each call is retried while the service
    cannot be reached or is overloaded, but for ``create`` and ``remove``, which are only retried after 429.

    Args:
        space_url: The Space endpoint, such as https://api.example/v1/space.
        secret: The room's name and key: of ``new_room_secret`` or of a link.
        identity: Who calls; a function is called before each attempt, so that a token can be renewed. None: anonymous,
            which open rooms allow.
        retries: The largest number of retries after the first attempt.
        timeout: The limit of one attempt in seconds, beside the time of a long poll.

    Example:
        room = Room("http://localhost:8787/v1/space", new_room_secret())
        room.say("Are the lamps lit?")
        for entry in room.follow():
            print(entry["message"]["text"])
    """

    def __init__(
        self,
        space_url: str,
        secret: RoomSecret,
        *,
        identity: Identity = None,
        retries: int = 3,
        timeout: float = 10.0,
        sleep: Sleep = time.sleep,
    ) -> None:
        if urlsplit(space_url).scheme not in ("http", "https"):
            raise ValueError("The address of the Space endpoint must be like https://api.example/v1/space")
        self.secret = secret
        """The room's name and key."""
        self._url = space_url
        self._identity = identity
        self._retries = retries
        self._timeout = timeout
        self._sleep = sleep
        self._http = Http()

    @classmethod
    def from_link(cls, link: str, **options: Any) -> Room:
        """The room of a link of the Space app, ``https://spaces.example/space#<room>.<mk>``.

        Raises ``ValueError`` if it is not one. The options are those of ``Room``.
        """
        origin, secret = parse_room_link(link)
        return cls(f"{origin}/space", secret, **options)

    def poll(
        self,
        *,
        since_count: int = 0,
        since_etag: str = "",
        wait_ms: int = 0,
        limit: int = _PAGE_LINES,
    ) -> SpacePollAnswer:
        """The entries from a place on.

        Args:
            since_count: ``count`` of the previous answer.
            since_etag: ``etag`` of the previous answer. If the history was replaced since, the answer starts from the
                beginning.
            wait_ms: How long the server waits for something new, in milliseconds, up to 25,000.
            limit: The largest number of lines, up to 500.
        """
        return self._poll(since_count, since_etag, wait_ms, limit, self._retries)

    def say(self, text: str, *, reply_to: str | None = None, client_id: str | None = None) -> SpaceTurnAnswer:
        """Writes a message of up to 16 KiB. Creates an open room if none exists.

        Args:
            text: The message.
            reply_to: ``id`` of the entry that it replies to.
            client_id: 1 to 100 characters. A repeat with the same one is stored once. Default: a fresh one, so that
                retries store the message once.
        """
        message = {"text": text, "client_id": client_id or random_id()}
        if reply_to is not None:
            message["reply_to"] = reply_to
        return cast(SpaceTurnAnswer, self._call({"op": "turn", "message": message}))

    def follow(self, *, after: int | None = None, wait_for_room: bool = False) -> Iterator[SpaceEntry]:
        """Yields every entry as it arrives: first those that are there, then new ones by long polling. It never ends.

        While the service is unavailable it retries with growing delays. Raises ``RewrittenHistoryError``, and errors
        that a retry cannot resolve.

        Args:
            after: Only entries with a greater ``seq``. To resume, pass that of the last entry. -1 and None: all.
            wait_for_room: Waits for a room that does not exist because it has no message yet.
        """
        count, etag = (0 if after is None else after + 1), ""
        failures = 0
        while True:
            is_first = count == 0
            # The service does not hold a poll of a room that does not exist, so a caller that does not wait gets 404
            # at once.
            wait_ms = _HOLD_MS if wait_for_room or not is_first else 0
            asked_at = time.monotonic()
            try:
                page = self._poll(count, etag, wait_ms, _PAGE_LINES, 0)
            except AtriumError as error:
                if isinstance(error, NotFoundError) and wait_for_room and is_first:
                    if time.monotonic() - asked_at < _IDLE_SECONDS:
                        self._sleep(_IDLE_SECONDS)
                    continue
                if not is_transient(error):
                    raise
                self._sleep(delay_seconds(failures, error.retry_after))
                failures += 1
                continue
            failures = 0
            _assert_continues(page, count, etag)
            yield from page["entries"]
            is_unheld = wait_ms > 0 and page["count"] == count and time.monotonic() - asked_at < _IDLE_SECONDS
            count, etag = page["count"], page["etag"]
            if is_unheld:
                self._sleep(_IDLE_SECONDS)

    def sealed(self) -> SpaceSealedAnswer:
        """What is stored, which the operator cannot read. The request has neither the key nor the identity."""
        return cast(SpaceSealedAnswer, self._call({"op": "sealed"}))

    def history(self) -> History:
        """The whole history, opened here, with every line checked against the one before it.

        Needs the package ``cryptography``. The end is compared with a poll. Raises ``DamagedHistoryError`` and
        ``WrongKeyError``.
        """
        polled = self.poll(since_count=_PAST_THE_END)["etag"]
        answer = self.sealed()
        # A message may have been written in between: then the chain passes through what the poll said.
        is_later = polled in {line_hash(line) for line in answer["sealed"].split("\n")}
        return open_history(self.secret, answer, None if is_later else polled)

    def create(
        self,
        policy: str = "email",
        *,
        allow: Sequence[str] | None = None,
        agents: Sequence[str] | None = None,
        title: str | None = None,
        require_proof: bool | None = None,
    ) -> SpaceChanged:
        """Creates the room.

        Args:
            policy: ``open``: anyone with the link. ``email``: the accounts and agents on its list. Its owner is the
                account of the identity.
            allow: E-mail addresses to admit.
            agents: Ids of agents to admit.
            title: 1 to 200 characters.
            require_proof: Whether every call must prove that the device holds its key.

        After a ``NetworkError`` the room may exist.
        """
        fields = {"policy": policy, "allow": allow, "agents": agents, "title": title, "require_proof": require_proof}
        return self._change("create", fields)

    def admit(self, *, emails: Sequence[str] | None = None, agents: Sequence[str] | None = None) -> SpaceChanged:
        """Adds accounts and agents to the list of the room. For its owner."""
        return self._change("admit", {"emails": emails, "agents": agents})

    def expel(self, *, emails: Sequence[str] | None = None, agents: Sequence[str] | None = None) -> SpaceChanged:
        """Removes accounts and agents from the list of the room. For its owner."""
        return self._change("expel", {"emails": emails, "agents": agents})

    def remove(self) -> SpaceChanged:
        """Deletes the room with everything in it. For its owner. After a ``NetworkError`` it may be gone."""
        return self._change("remove", {})

    def close(self) -> None:
        """Closes the connections that are kept open between calls."""
        self._http.close()

    def _change(self, op: str, fields: dict[str, Any]) -> SpaceChanged:
        given = {
            name: list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
            for name, value in fields.items()
            if value is not None
        }
        return cast(SpaceChanged, self._call({"op": op, **given}))

    def _poll(self, count: int, etag: str, wait_ms: int, limit: int, retries: int) -> SpacePollAnswer:
        request = {"op": "poll", "sinceCount": count, "sinceEtag": etag, "waitMs": wait_ms, "limit": limit}
        return cast(SpacePollAnswer, self._call(request, retries=retries, extra=wait_ms / 1_000))

    def _call(self, fields: dict[str, Any], *, retries: int | None = None, extra: float = 0.0) -> Any:
        """Sends one request. Every op can be repeated, a turn because of its client_id, but for create and remove: after
        a lost answer, the repeat of one that took effect would fail with 409 or 404.
        """
        is_sealed = fields["op"] == "sealed"
        request: dict[str, Any] = {"room": self.secret.room, **fields}
        if not is_sealed:
            request["mk"] = self.secret.mk
        timeout = self._timeout + (_SEALED_EXTRA_SECONDS if is_sealed else extra)
        most = _MAX_SEALED_BYTES if is_sealed else _MAX_ANSWER_BYTES

        def attempt() -> Any:
            identity = self._identity() if callable(self._identity) else self._identity
            body = to_json({**request, **identity_fields(request, identity)}).encode()
            headers = {"content-type": "application/json", "user-agent": user_agent(VERSION)}
            try:
                answer = self._http.send(HttpRequest("POST", self._url, headers, body), timeout=timeout, max_bytes=most)
            except TooLargeError as cause:
                raise make_error(f"The server answered {cause}", status=200, code="unexpected_answer") from cause
            except (OSError, http.client.HTTPException) as cause:
                raise no_answer(cause, self._url, timeout) from cause
            if answer.status != 200:
                raise error_of_answer(answer)
            body = json_of(answer)
            if not isinstance(body, dict):
                message = "The server answered 200 in another form than that of the op"
                raise make_error(message, status=200, code="unexpected_answer")
            return body

        return with_retries(
            attempt,
            retries=self._retries if retries is None else retries,
            repeatable=fields["op"] not in ("create", "remove"),
            sleep=self._sleep,
        )


def _assert_continues(page: SpacePollAnswer, count: int, etag: str) -> None:
    """An answer that starts before the requested place means that the history was replaced."""
    is_other = page["count"] == count and etag != "" and page["etag"] != etag
    starts = page["entries"][0]["seq"] if page["entries"] else count
    if is_other or page["count"] < count or starts < count:
        raise RewrittenHistoryError(f"The first {count} lines of the room are not those that were read")
