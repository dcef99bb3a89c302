"""EMSA-PSS with SHA-384, MGF1 and a salt of 48 bytes (RFC 8017, 9.1): what blind tokens are signed with."""

from __future__ import annotations

import hashlib
import hmac

HASH_BYTES = 48
SALT_BYTES = 48
_TRAILER = 0xBC


def encode_pss(message: bytes, salt: bytes, bits: int) -> bytes:
    """The message encoded for a signature, as an integer of at most ``bits`` bits (RFC 8017, 9.1.1)."""
    length = -(-bits // 8)
    digest = _hash(bytes(8) + _hash(message) + salt)
    block = bytes(length - len(salt) - HASH_BYTES - 2) + b"\x01" + salt
    masked = bytearray(_xor(block, _mask(digest, len(block))))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + bytes([_TRAILER])


def is_pss(message: bytes, encoded: bytes, bits: int) -> bool:
    """Whether ``encoded`` encodes the message, with whatever salt (RFC 8017, 9.1.2)."""
    length = -(-bits // 8)
    if len(encoded) != length or encoded[-1] != _TRAILER:
        return False
    masked, digest = encoded[: -HASH_BYTES - 1], encoded[-HASH_BYTES - 1 : -1]
    unused = 0xFF & ~(0xFF >> (8 * length - bits))
    if masked[0] & unused:
        return False
    block = bytearray(_xor(masked, _mask(digest, len(masked))))
    block[0] &= 0xFF >> (8 * length - bits)
    salt = bytes(block[-SALT_BYTES:])
    if block[:-SALT_BYTES] != bytes(len(block) - SALT_BYTES - 1) + b"\x01":
        return False
    return hmac.compare_digest(digest, _hash(bytes(8) + _hash(message) + salt))


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1 (RFC 8017, B.2.1)."""
    blocks = -(-length // HASH_BYTES)
    return b"".join(_hash(seed + counter.to_bytes(4, "big")) for counter in range(blocks))[:length]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _hash(data: bytes) -> bytes:
    return hashlib.sha384(data).digest()
