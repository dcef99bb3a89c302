"""The whole history of a room, opened on this machine with the room's key, which the operator does not have."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, cast

from ..types import SpaceEntry, SpaceSealedAnswer
from .lines import BrokenChainError, DamagedLineError, WrongKeyError, check_chain, derive_room_key, line_hash, open_line
from .records import InvalidRecordError, parse_record
from .room_secret import RoomSecret

__all__ = ["DamagedHistoryError", "History", "WrongKeyError", "open_history"]

_SHORTEST_LINE = 200


@dataclass(frozen=True)
class History:
    """Everything that is stored of a room."""

    records: list[dict[str, Any]]
    """Every line, in order: ``{"t": "policy", …}`` or ``{"t": "turn", …}``. The policies are the membership log."""
    entries: list[SpaceEntry]
    """The messages, in the form of ``poll``."""
    policy: dict[str, Any]
    """The current policy."""
    etag: str
    """SHA-256 of the last line, base64url. It equals the etag of a poll if the history is complete."""


class DamagedHistoryError(Exception):
    """The history is inconsistent."""

    def __init__(self, problem: str, seq: int | None = None) -> None:
        super().__init__(problem if seq is None else f"line {seq}: {problem}")
        self.seq = seq
        """Index of the first invalid line; None if no single line is at fault."""


def open_history(secret: RoomSecret, answer: SpaceSealedAnswer, etag: str | None = None) -> History:
    """Opens the answer of ``sealed`` with the room's key. Needs the package ``cryptography``.

    Args:
        secret: The room's name and key.
        answer: The answer of ``sealed``.
        etag: The hash that the last line must have, from another source: a poll, or another member of the room.
            Without it, lines may be missing at the end.

    Raises:
        DamagedHistoryError: A line was altered, moved or removed, or has another recipient than the room.
        WrongKeyError: ``mk`` is not the key of this room.
        ImportError: The package ``cryptography`` is not installed.
    """
    sealed = answer["sealed"]
    # No line is as short as this: a text of line ends alone would need a hundred times its memory.
    if sealed.count("\n") > len(sealed) // _SHORTEST_LINE:
        raise DamagedHistoryError("its lines are shorter than any line of a room")
    if hashlib.sha256(sealed.encode("utf-8", "surrogatepass")).hexdigest() != answer["sha256"]:
        raise DamagedHistoryError("the text is not what its hash says")
    lines = sealed.split("\n")
    try:
        check_chain(lines, etag)
    except BrokenChainError as error:
        raise DamagedHistoryError(str(error), error.seq) from None
    key = derive_room_key(secret)
    records = [_open(key, line, seq) for seq, line in enumerate(lines)]
    if records[0]["t"] != "policy":
        raise DamagedHistoryError("there is no policy", 0)
    policy = [record for record in records if record["t"] == "policy"][-1]
    entries = [cast(SpaceEntry, _entry_of(seq, record)) for seq, record in enumerate(records) if record["t"] == "turn"]
    return History(records, entries, policy, line_hash(lines[-1]))


def _open(key: bytes, line: str, seq: int) -> dict[str, Any]:
    try:
        return parse_record(open_line(key, line))
    except (DamagedLineError, InvalidRecordError) as error:
        # The line was altered, or sealed with the right key in an invalid form.
        raise DamagedHistoryError(str(error), seq) from None


def _entry_of(seq: int, record: dict[str, Any]) -> dict[str, Any]:
    return {"seq": seq, **{name: record[name] for name in ("id", "at", "author", "message")}}
