"""Who calls: a device key, an ID token, and the proof that the device holds its key."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._base64url import encode_base64url
from ..types import Spk

_NOT_ARGUMENTS = frozenset({"op", "room", "mk", "idToken", "spk", "proof"})
"""Members that identify the caller or open the room are not arguments, and the room key must not be hashed."""


@dataclass(frozen=True)
class RoomIdentity:
    """The identity of a caller in a room. Rooms with a list require ``id_token`` and ``spk``; open rooms neither."""

    spk: Spk
    """The public key of the device, a JWK (EC P-256)."""
    id_token: str | None = None
    """An ID token whose nonce is the thumbprint of ``spk``, issued in the last twelve hours."""
    sign: Callable[[bytes], bytes] | None = None
    """The private device key: ES256, 64 bytes. With it every call has a proof, and messages are marked as proven."""


def identity_fields(request: Mapping[str, Any], identity: RoomIdentity | None) -> dict[str, Any]:
    """The members that show the identity. A proof is valid for five minutes, so each attempt has a new one."""
    if identity is None or request["op"] in ("sealed", "attest"):
        return {}
    fields: dict[str, Any] = {"spk": identity.spk}
    if identity.id_token is not None:
        fields["idToken"] = identity.id_token
    if identity.sign is not None:
        fields["proof"] = sign_proof(request, identity.sign)
    return fields


def sign_proof(request: Mapping[str, Any], sign: Callable[[bytes], bytes]) -> str:
    """A compact JWS (ES256, RFC 7515) over ``{op, room, iat, sha256}``, valid only for this request with its arguments."""
    digest = hashlib.sha256(proof_content(request).encode()).hexdigest()
    payload = {"op": request["op"], "room": request["room"], "iat": int(time.time()), "sha256": digest}
    signed = f"{_part({'alg': 'ES256'})}.{_part(payload)}"
    return f"{signed}.{encode_base64url(sign(signed.encode()))}"


def proof_content(request: Mapping[str, Any]) -> str:
    """The text whose SHA-256 a proof signs.

    For ``turn``, the message with its members in the order text, reply_to, client_id. For ``poll``, which changes
    nothing, the empty text. For all others, the arguments as canonical JSON (RFC 8785).
    """
    if request["op"] == "poll":
        return ""
    message = request.get("message")
    if request["op"] == "turn" and message is not None:
        names = ("text", "reply_to", "client_id")
        return to_json({name: message[name] for name in names if message.get(name) is not None})
    given = {name: value for name, value in request.items() if name not in _NOT_ARGUMENTS and value is not None}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def thumbprint_of(spk: Spk) -> str:
    """RFC 7638, 3.2: the required members only, in this order, without white space."""
    json_text = to_json({"crv": spk["crv"], "kty": spk["kty"], "x": spk["x"], "y": spk["y"]})
    return encode_base64url(hashlib.sha256(json_text.encode()).digest())


def to_json(value: object) -> str:
    """As JSON.stringify writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _part(value: object) -> str:
    return encode_base64url(to_json(value).encode())
