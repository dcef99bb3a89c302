"""Webhooks: Standard Webhooks, symmetric (v1), HMAC-SHA-256 over ``id.timestamp.payload``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from typing import Literal, cast

from .types import AnyEvent

Doubt = Literal["missing_header", "bad_timestamp", "too_old", "too_new", "bad_signature", "not_json"]


class WebhookVerificationError(Exception):
    """The request was not signed with the secret within the tolerance. Answer with 401 and do not process it."""

    def __init__(self, reason: Doubt) -> None:
        super().__init__(f"The webhook is not genuine: {reason}")
        self.reason = reason
        """The check that failed."""


def verify_webhook(
    payload: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance_seconds: int = 300,
) -> AnyEvent:
    """Verifies a webhook request and returns its event. Delivery is at least once: the event's id tells a repeat.

    Args:
        payload: The raw body. Parsing and serialising it again would change its bytes.
        headers: Those of the request, in any case: ``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``,
            which has several signatures during a rotation.
        secrets: The secret from ``set_webhook`` (whsec_…), or several, any of which may match.
        tolerance_seconds: The largest difference between the timestamp and now.

    Raises:
        WebhookVerificationError: Its ``reason`` names the failed check.
        ValueError: A secret is malformed.

    Example:
        event = verify_webhook(request.body, request.headers, "whsec_…")
        if event["type"] == "item.created":
            print(event["data"]["item_id"])
    """
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    named = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, shown = (named.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not event_id or not timestamp or not shown:
        raise WebhookVerificationError("missing_header")
    _assert_recent(timestamp, tolerance_seconds)
    body = _bytes_of(payload)
    signatures = [signature for text in shown.split(" ") for signature in _signature_of(text)]
    macs = [_sign(key, event_id, timestamp, body) for key in keys]
    # Every pair is compared, so that the time says nothing about which one matched.
    matches = [hmac.compare_digest(mac, signature) for mac in macs for signature in signatures]
    if not any(matches):
        raise WebhookVerificationError("bad_signature")
    try:
        return cast(AnyEvent, json.loads(body))
    except ValueError:
        raise WebhookVerificationError("not_json") from None


def sign_webhook(payload: bytes | str, secret: str, *, id: str, at: float | None = None) -> dict[str, str]:
    """The headers of a signed webhook, for tests of a receiver.

    Args:
        payload: The body to sign.
        secret: whsec_….
        id: The id of the event.
        at: When it was signed, in seconds since 1970; now if absent.

    Raises:
        ValueError: The secret is malformed.
    """
    timestamp = str(int(time.time() if at is None else at))
    body = _bytes_of(payload)
    signature = base64.b64encode(_sign(_key_of(secret), id, timestamp, body)).decode()
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": f"v1,{signature}"}


def _sign(key: bytes, event_id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.new(key, b".".join((_bytes_of(event_id), timestamp.encode(), body)), hashlib.sha256).digest()


def _bytes_of(text: bytes | str) -> bytes:
    """A forged text may have lone surrogates, which UTF-8 does not encode. Its signature does not match then."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)


def _key_of(secret: str) -> bytes:
    key = _base64_of(secret.removeprefix("whsec_"))
    # Anyone could sign with an empty key.
    if not key:
        raise ValueError("The secret must be whsec_ and base64")
    return key


def _assert_recent(timestamp: str, tolerance_seconds: int) -> None:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15):
        raise WebhookVerificationError("bad_timestamp")
    age = int(time.time()) - int(timestamp)
    if age > tolerance_seconds:
        raise WebhookVerificationError("too_old")
    if age < -tolerance_seconds:
        raise WebhookVerificationError("too_new")


def _signature_of(text: str) -> list[bytes]:
    """Signatures of other versions are ignored."""
    signature = _base64_of(text[3:]) if text.startswith("v1,") else None
    return [] if signature is None else [signature]


def _base64_of(text: str) -> bytes | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
