"""Base64url without padding (RFC 4648, 5)."""

from __future__ import annotations

import base64
import re

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_TEXT = re.compile(r"[A-Za-z0-9_-]*")
_STRAY_BITS = {0: 0, 2: 0b1111, 3: 0b11}


def encode_base64url(data: bytes) -> str:
    """The bytes as text."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    """The bytes of a text that ``is_base64url`` has passed."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_base64url(text: str) -> bool:
    """Whether the text is the one spelling of some bytes: the alphabet only, no padding, no stray low bits at its end."""
    if not _TEXT.fullmatch(text) or len(text) % 4 not in _STRAY_BITS:
        return False
    return text == "" or _ALPHABET.index(text[-1]) & _STRAY_BITS[len(text) % 4] == 0
