"""Rooms of the Space service, whose stored history the operator cannot read.

Talking needs the standard library alone. Device keys and the history need the package ``cryptography``.
"""

from __future__ import annotations

from .device_key import DeviceKey
from .history import DamagedHistoryError, History, WrongKeyError, open_history
from .identity import RoomIdentity
from .room import RewrittenHistoryError, Room
from .room_secret import RoomSecret, new_room_secret, parse_room_link

__all__ = [
    "DamagedHistoryError",
    "DeviceKey",
    "History",
    "RewrittenHistoryError",
    "Room",
    "RoomIdentity",
    "RoomSecret",
    "WrongKeyError",
    "new_room_secret",
    "open_history",
    "parse_room_link",
]
