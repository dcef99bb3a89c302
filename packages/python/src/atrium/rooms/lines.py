"""The lines that a room is stored as: each is a JWE of its own, and has the hash of the line before it."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .._base64url import decode_base64url, encode_base64url, is_base64url
from .cryptography_package import MissingCryptographyError
from .room_secret import RoomSecret

_HEADER = re.compile(r'\{"enc":"A256GCM","seq":(0|[1-9][0-9]{0,15})(?:,"prev":"([A-Za-z0-9_-]{43})")?\}')
_MAX_HEADER_LENGTH = 200
_MAX_SEQ = 2**53 - 1


class WrongKeyError(Exception):
    """The line's content key does not unwrap under this room key: another room's key, or the line was altered."""

    def __init__(self) -> None:
        super().__init__("The room key does not open this line")


class DamagedLineError(Exception):
    """A line that was altered, or is none."""


@dataclass(frozen=True)
class Line:
    """The parts of a line, each base64url, and its place."""

    header: str
    encrypted_key: str
    iv: str
    ciphertext: str
    tag: str
    seq: int
    prev: str | None


def parse_line(text: str) -> Line:
    """Reads the form of a line, without any key.

    The recipients and the spelling are not covered by the authentication tag. So a line must be exactly what its parts
    make: anything else raises ``DamagedLineError``.
    """
    try:
        jwe = json.loads(text)
        header, iv, ciphertext, tag = jwe["protected"], jwe["iv"], jwe["ciphertext"], jwe["tag"]
        encrypted_key = jwe["recipients"][0]["encrypted_key"]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        raise DamagedLineError("not a JWE with a recipient") from None
    parts = (header, encrypted_key, iv, ciphertext, tag)
    if not all(isinstance(part, str) for part in parts) or _format(*parts) != text:
        raise DamagedLineError("not in the canonical form")
    if not all(is_base64url(part) for part in parts):
        raise DamagedLineError("not canonical base64url")
    # 40 bytes: a 32-byte key wrapped. 12: the iv of GCM. 16: a whole tag, for a shorter one is easier to forge.
    if len(encrypted_key) != 54 or len(iv) != 16 or len(tag) != 22:
        raise DamagedLineError("a part has the wrong length")
    return Line(*parts, *_position_of(header))


def check_chain(lines: Sequence[str], etag: str | None = None) -> None:
    """Raises ``BrokenChainError`` at the first line that does not follow from the one before it. Needs no key."""
    prev: str | None = None
    for seq, text in enumerate(lines):
        try:
            line = parse_line(text)
        except DamagedLineError:
            raise BrokenChainError(seq, "form") from None
        if line.seq != seq:
            raise BrokenChainError(seq, "seq")
        if line.prev != prev:
            raise BrokenChainError(seq, "prev")
        prev = line_hash(text)
    if etag is not None and etag != prev:
        raise BrokenChainError(max(0, len(lines) - 1), "etag")


class BrokenChainError(Exception):
    """The chain breaks at this line."""

    def __init__(self, seq: int, problem: str) -> None:
        super().__init__(f"the chain breaks ({problem})")
        self.seq = seq


def line_hash(line: str) -> str:
    """SHA-256 of the line, base64url: the next line's ``prev``, and the room's etag when it is the last."""
    return encode_base64url(hashlib.sha256(line.encode("utf-8", "surrogatepass")).digest())


def derive_room_key(secret: RoomSecret) -> bytes:
    """HKDF-SHA-256 (RFC 5869): ikm = mk, salt = room, info names the use, 32 bytes."""
    prk = hmac.new(secret.room.encode(), secret.mk.encode(), hashlib.sha256).digest()
    return hmac.new(prk, b"atrium/room/v1\x01", hashlib.sha256).digest()


def open_line(key: bytes, text: str) -> bytes:
    """The payload of a line (RFC 7516: A256GCM, its key wrapped by A256KW).

    Raises ``WrongKeyError`` and ``DamagedLineError``, and ``ImportError`` without the package ``cryptography``.
    """
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap
    except ImportError as cause:
        raise MissingCryptographyError from cause
    line = parse_line(text)
    try:
        content_key = aes_key_unwrap(key, decode_base64url(line.encrypted_key))
    except InvalidUnwrap:
        raise WrongKeyError from None
    sealed = decode_base64url(line.ciphertext) + decode_base64url(line.tag)
    try:
        return AESGCM(content_key).decrypt(decode_base64url(line.iv), sealed, line.header.encode())
    except InvalidTag:
        raise DamagedLineError("the content or its header was altered") from None


def _format(header: str, encrypted_key: str, iv: str, ciphertext: str, tag: str) -> str:
    recipient = f'{{"header":{{"alg":"A256KW","kid":"room"}},"encrypted_key":"{encrypted_key}"}}'
    return f'{{"protected":"{header}","recipients":[{recipient}],"iv":"{iv}","ciphertext":"{ciphertext}","tag":"{tag}"}}'


def _position_of(header: str) -> tuple[int, str | None]:
    text = decode_base64url(header).decode("latin-1") if len(header) <= _MAX_HEADER_LENGTH else ""
    match = _HEADER.fullmatch(text)
    if match is None:
        raise DamagedLineError("not a header of a line")
    seq, prev = int(match[1]), match[2]
    if seq > _MAX_SEQ or (prev is None) != (seq == 0) or (prev is not None and not is_base64url(prev)):
        raise DamagedLineError("not a header of a line")
    return seq, prev
