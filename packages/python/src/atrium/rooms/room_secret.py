"""What opens a room: its name and its key, and the link that has both."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .._base64url import encode_base64url

_ROOM = re.compile(r"[A-Za-z0-9_-]{1,128}")
_MK = re.compile(r"[!-~]{22,512}")


@dataclass(frozen=True)
class RoomSecret:
    """A room's name and key. Both together give access: keep ``mk`` out of logs, URL paths and queries."""

    room: str
    mk: str = field(repr=False)

    def __post_init__(self) -> None:
        # The messages never quote the secret.
        if not _ROOM.fullmatch(self.room):
            raise ValueError("room must be 1 to 128 characters of A-Z a-z 0-9 _ -")
        if not _MK.fullmatch(self.mk):
            raise ValueError("mk must be 22 to 512 printable ASCII characters without space")

    @property
    def fragment(self) -> str:
        """What follows the path of a link, ``#<room>.<mk>``. Browsers do not send it."""
        return f"#{self.room}.{self.mk}"


def new_room_secret() -> RoomSecret:
    """A new room: a name of 128 random bits and a key of 256. The room exists once a message is in it."""
    return RoomSecret(random_id(), encode_base64url(secrets.token_bytes(32)))


def parse_room_link(link: str) -> tuple[str, RoomSecret]:
    """The origin and the secret of a room's link, ``https://spaces.example/space#<room>.<mk>``.

    Raises:
        ValueError: It is not a link of a room. The message does not quote it: a link is a key.
    """
    parts = urlsplit(link.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("The link must start with https:// or http://, such as https://spaces.example/space#ROOM.KEY")
    room, dot, mk = parts.fragment.partition(".")
    if not dot:
        raise ValueError("What follows # in the link is not a room and its key. Is the link cut off?")
    return f"{parts.scheme}://{parts.netloc}", RoomSecret(room, mk)


def random_id() -> str:
    """128 random bits, 22 characters."""
    return encode_base64url(secrets.token_bytes(16))
