"""Blind tokens: RSABSSA-SHA384-PSS-Randomized (RFC 9474), with the standard library alone.

An issuer signs a token without seeing it, so that nobody can tell later whose it was. The buyer's side is here. Signing
is not: it needs the private key, and Python's arithmetic takes a time that depends on it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
from typing import NamedTuple, TypedDict

from ._base64url import decode_base64url, encode_base64url, is_base64url
from ._pss import SALT_BYTES, encode_pss, is_pss
from .types import RsaPublicJwk, TokenRedemption

_PREFIX_BYTES = 32
_MIN_MODULUS_BITS = 2_048
_MAX_MODULUS_BITS = 4_096
# The longest token that redeem_wallet accepts, without the prefix.
_MAX_MESSAGE_BYTES = 1_050 - _PREFIX_BYTES
_LEADING_ZERO_BYTE = re.compile("A[A-P]")


class PreparedToken(TypedDict):
    """A token that waits for its signature. It is plain JSON: store it where only you can read it until ``finish_token``
    has made the token. Without it a paid signature is worthless, and with it the issuer could link token and buyer."""

    epoch: str
    public_key: RsaPublicJwk
    token: str
    """A random prefix of 32 bytes, then the message. base64url."""
    blinded: str
    """What the issuer signs, which reveals nothing about the token. As long as the modulus, base64url."""
    inverse: str
    """The inverse of the blinding factor, which ``finish_token`` needs. base64url."""


class _Key(NamedTuple):
    n: int
    e: int
    length: int
    """Of the modulus, in bytes."""

    @property
    def encoded_bits(self) -> int:
        return self.n.bit_length() - 1


def epoch_of(public_key: RsaPublicJwk) -> str:
    """The id of a key's epoch: its thumbprint (RFC 7638, SHA-256, base64url, 43 characters).

    Raises ``ValueError`` if the key is not an RSA key in canonical base64url: it would be another epoch for the same key.
    """
    members = {name: public_key[name] for name in ("e", "kty", "n")}
    if members["kty"] != "RSA" or not (_is_integer(members["n"]) and _is_integer(members["e"])):
        raise ValueError("The key is not a public RSA JWK in canonical base64url")
    data = json.dumps(members, separators=(",", ":")).encode()
    return encode_base64url(hashlib.sha256(data).digest())


def prepare_token(public_key: RsaPublicJwk, message: bytes = b"") -> PreparedToken:
    """Makes a new token and blinds it for the issuer (RFC 9474, 4.1 and 4.2).

    Args:
        public_key: The epoch's key (2,048 to 4,096 bits) of ``get_epoch``. Do not use a key from another source: it
            could be unique to you and so identify your tokens.
        message: Up to 1,018 bytes that are part of the token and visible when it is redeemed, so include no personal
            data. Most tokens need none.

    Raises ``ValueError`` if the API would not accept the key or the message.

    Example:
        prepared = prepare_token(atrium.get_epoch(epoch).data["public_key"])
        token = finish_token(prepared, ask_your_issuer(prepared["blinded"]))
        wallet = atrium.redeem_wallet(body=token).data["wallet_code"]
    """
    epoch, key = epoch_of(public_key), _key_of(public_key)
    if len(message) > _MAX_MESSAGE_BYTES:
        raise ValueError(f"The message has more than {_MAX_MESSAGE_BYTES:,} bytes")
    token = secrets.token_bytes(_PREFIX_BYTES) + message
    encoded = int.from_bytes(encode_pss(token, secrets.token_bytes(SALT_BYTES), key.encoded_bits), "big")
    factor = 1 + secrets.randbelow(key.n - 1)
    # Either has a common factor with the modulus only if it discloses one of the two primes.
    if math.gcd(encoded, key.n) != 1 or math.gcd(factor, key.n) != 1:
        raise ValueError("The key is not a valid RSA key")
    blinded = encoded * pow(factor, key.e, key.n) % key.n
    return {
        "epoch": epoch,
        "public_key": {"kty": "RSA", "n": public_key["n"], "e": public_key["e"]},
        "token": encode_base64url(token),
        "blinded": encode_base64url(blinded.to_bytes(key.length, "big")),
        "inverse": encode_base64url(pow(factor, -1, key.n).to_bytes(key.length, "big")),
    }


def finish_token(prepared: PreparedToken, blind_signature: str) -> TokenRedemption:
    """Makes the token of the issuer's blind signature, and verifies it (RFC 9474, 4.4).

    Args:
        prepared: What ``prepare_token`` returned. It stays usable if the signature is wrong.
        blind_signature: The issuer's signature of ``prepared["blinded"]``, base64url.

    Returns the body of ``redeem_wallet``, to which a ``recovery_key`` may be added. Anyone who has it can spend it.
    Raises ``ValueError`` if the signature is malformed, or does not verify for this token and key.
    """
    key = _key_of(prepared["public_key"])
    if not is_base64url(blind_signature) or len(blind_signature) != len(prepared["blinded"]):
        raise ValueError("The blind signature must be base64url, as long as the blinded message")
    token = decode_base64url(prepared["token"])
    signature = _integer(blind_signature) * _integer(prepared["inverse"]) % key.n
    encoded = pow(signature, key.e, key.n)
    length = -(-key.encoded_bits // 8)
    is_good = encoded.bit_length() <= key.encoded_bits and is_pss(token, encoded.to_bytes(length, "big"), key.encoded_bits)
    if not is_good:
        raise ValueError("The blind signature does not verify for this token and key")
    sig = encode_base64url(signature.to_bytes(key.length, "big"))
    return {"token": prepared["token"], "sig": sig, "epoch": prepared["epoch"]}


def _key_of(public_key: RsaPublicJwk) -> _Key:
    n, e = _integer(public_key["n"]), _integer(public_key["e"])
    if not _MIN_MODULUS_BITS <= n.bit_length() <= _MAX_MODULUS_BITS:
        raise ValueError(f"The key has {n.bit_length():,} bits; it must have 2,048 to 4,096")
    if n % 2 == 0 or e % 2 == 0 or not 3 <= e < n:
        raise ValueError("The key is not a valid RSA key")
    return _Key(n, e, -(-n.bit_length() // 8))


def _is_integer(text: str) -> bool:
    # A leading zero byte is another encoding of the same number.
    return is_base64url(text) and len(text) >= 2 and not _LEADING_ZERO_BYTE.match(text)


def _integer(text: str) -> int:
    return int.from_bytes(decode_base64url(text), "big")
