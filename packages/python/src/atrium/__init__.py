"""The Python client of Atrium. It needs the standard library alone, and ``cryptography`` for the history of rooms.

Example:
    from atrium import Atrium

    atrium = Atrium("http://localhost:8787/v1", key="wsk_…")
    made = atrium.create_collection(body={"metadata": {"share_title": "Lantern night"}}).data
    atrium.add_item(made["id"], body={"type": "message", "content": {"text": "Hello"}})
"""

from __future__ import annotations

from . import errors, types
from ._atrium_error import AtriumError
from ._version import VERSION as __version__
from .answer import Answer, Page
from .blind_tokens import PreparedToken, epoch_of, finish_token, prepare_token
from .client import Atrium
from .rooms import DeviceKey, Room, RoomIdentity, RoomSecret, new_room_secret
from .streams import EventStream, StreamMessage
from .webhooks import WebhookVerificationError, sign_webhook, verify_webhook

__all__ = [
    "Answer",
    "Atrium",
    "AtriumError",
    "DeviceKey",
    "EventStream",
    "Page",
    "PreparedToken",
    "Room",
    "RoomIdentity",
    "RoomSecret",
    "StreamMessage",
    "WebhookVerificationError",
    "__version__",
    "epoch_of",
    "errors",
    "finish_token",
    "new_room_secret",
    "prepare_token",
    "sign_webhook",
    "types",
    "verify_webhook",
]
