"""The key of this device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base64url import encode_base64url
from ..types import Spk
from .cryptography_package import MissingCryptographyError
from .identity import RoomIdentity, thumbprint_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey


class DeviceKey:
    """A key pair (EC P-256). ``spk`` is sent with every request; the private half stays here.

    Needs the package ``cryptography``; raises ``ImportError`` without it.

    Example:
        device = DeviceKey.generate()
        room = Room.from_link(link, identity=device.identity(id_token))
    """

    def __init__(self, private_key: EllipticCurvePrivateKey) -> None:
        if private_key.curve.name != "secp256r1":
            raise ValueError("A device key is of the curve P-256")
        self._private_key = private_key
        numbers = private_key.public_key().public_numbers()
        x, y = (encode_base64url(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
        self.spk: Spk = {"kty": "EC", "crv": "P-256", "x": x, "y": y}
        """The public half as a JWK (RFC 7518, 6.2)."""

    @classmethod
    def generate(cls) -> DeviceKey:
        """A new key."""
        try:
            from cryptography.hazmat.primitives.asymmetric import ec
        except ImportError as cause:
            raise MissingCryptographyError from cause
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_pem(cls, pem: bytes) -> DeviceKey:
        """The key that ``to_pem`` wrote. Raises ``ValueError`` for anything else."""
        try:
            from cryptography.hazmat.primitives.asymmetric import ec
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError as cause:
            raise MissingCryptographyError from cause
        key = load_pem_private_key(pem, password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("A device key is of the curve P-256")
        return cls(key)

    def to_pem(self) -> bytes:
        """The private key (PKCS 8), not encrypted: keep it where only this program reads it, such as a file of mode 600."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def thumbprint(self) -> str:
        """Thumbprint of ``spk`` (RFC 7638): the nonce to ask the identity provider for."""
        return thumbprint_of(self.spk)

    def sign(self, data: bytes) -> bytes:
        """ES256, as a JWS has it (RFC 7518, 3.4): 64 bytes."""
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        r, s = decode_dss_signature(self._private_key.sign(data, ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def identity(self, id_token: str | None = None) -> RoomIdentity:
        """The identity of this device: in an open room by itself, in a room with a list together with an ID token."""
        return RoomIdentity(self.spk, id_token, self.sign)
