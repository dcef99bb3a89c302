"""Reads a room whose lines the clients seal. Written from docs/space/client-sealed.md, without another implementation.

Usage: client_sealed_reader.py ROOM MK < pages.json     checks the pages and prints the messages
       client_sealed_reader.py --access ROOM MK         prints the public access key
"""

import base64
import hashlib
import json
import re
import sys
from datetime import datetime
from typing import Any, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

POLICY = b'{"t":"policy","policy":"open"}'
NUMBER = r"0|[1-9][0-9]*"
HASH = r"[A-Za-z0-9_-]{43}"

# `prev` and `encrypted_key` are optional here: a wrong `prev` is a problem of the chain, and whether a key belongs in
# the line depends on the header, which is only read when the line is opened.
LINE = re.compile(
    r'\{"protected":"(?P<protected>[A-Za-z0-9_-]+)",'
    rf'"unprotected":\{{"seq":(?P<seq>{NUMBER})(?:,"prev":"(?P<prev>{HASH})")?\}},'
    r'(?:"encrypted_key":"(?P<key>[A-Za-z0-9_-]+)",)?'
    r'"iv":"(?P<iv>[A-Za-z0-9_-]{16})",'
    r'"ciphertext":"(?P<ciphertext>[A-Za-z0-9_-]+)",'
    r'"tag":"(?P<tag>[A-Za-z0-9_-]{22})"\}'
)
TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


class Problem(Exception):
    """What is wrong, and the number of the line at which it was found."""

    def __init__(self, name: str, seq: int) -> None:
        super().__init__(f"{name} {seq}")


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # Python ignores spare bits in the last character; one value should have one spelling only.
    if encode(data) != text:
        raise ValueError("not the canonical base64url")
    return data


def derive(room: str, mk: str, purpose: str) -> bytes:
    info = f"atrium/client-sealed/{purpose}/v1".encode("ascii")
    return HKDF(SHA256(), 32, room.encode("ascii"), info).derive(mk.encode("ascii"))


def access_key(room: str, mk: str) -> str:
    private = Ed25519PrivateKey.from_private_bytes(derive(room, mk, "access"))
    return encode(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= most


def is_time(value: Any) -> bool:
    match = TIME.fullmatch(value) if isinstance(value, str) else None
    if not match:
        return False
    day, minute, second = match.groups()
    try:
        datetime.strptime(f"{day} {minute}", "%Y-%m-%d %H:%M")
    except ValueError:
        return False
    return int(second) <= 60  # RFC 3339 has leap seconds, which datetime does not know.


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_message(plain: bytes) -> dict[str, Any] | None:
    """The message, or None if this is not one. Members that the specification does not name are ignored."""
    try:
        value = json.loads(plain.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("t") != "turn":
        return None
    good = is_text(value.get("id"), 100) and is_time(value.get("at")) and is_text(value.get("text"), 16384)
    good = good and ("name" not in value or is_text(value["name"], 80))
    good = good and ("reply_to" not in value or is_text(value["reply_to"], 100))
    return value if good else None


class Reader:
    def __init__(self, room: str, mk: str) -> None:
        self.cipher = AESGCM(derive(room, mk, "line"))
        # The header has one spelling only, so a pattern says more than a JSON parser would.
        self.header = re.compile(
            rf'\{{"alg":"dir","enc":"A256GCM","room":"{room}","generation":0'
            rf'(?:,"seen":\{{"seq":({NUMBER}),"hash":"({HASH})"\}})?\}}'
        )
        self.hashes: list[str] = []
        self.ids: set[str] = set()

    def read_page(self, page: Any) -> list[dict[str, Any]]:
        start = len(self.hashes)
        if not isinstance(page, dict) or type(page.get("count")) is not int or not isinstance(page.get("lines"), list):
            raise Problem("form", start)
        lines: list[Any] = page["lines"]
        found = [LINE.fullmatch(line) if isinstance(line, str) else None for line in lines]

        if page["count"] < start or (start > 0 and found and found[0] and found[0]["seq"] == "0"):
            raise Problem("rewritten", start)
        matches: list[re.Match[str]] = []
        for seq, match in enumerate(found, start):
            if match is None:
                raise Problem("form", seq)
            # Compared as text: a number with thousands of digits cannot be converted.
            if match["seq"] != str(seq):
                raise Problem("number", seq)
            matches.append(match)

        for seq, match in enumerate(matches, start):
            if match["prev"] != (self.hashes[-1] if self.hashes else None):
                raise Problem("chain", seq)
            self.hashes.append(encode(hashlib.sha256(match.string.encode("ascii")).digest()))
        last = max(len(self.hashes) - 1, 0)
        if page["count"] != len(self.hashes):
            raise Problem("count", last)
        # A room always has line 0, so without any line there is no etag that could be right.
        if not self.hashes or page.get("etag") != self.hashes[-1]:
            raise Problem("end", last)

        messages = [self.read_line(seq, match) for seq, match in enumerate(matches, start)]
        return [message for message in messages if message is not None]

    def open_line(self, seq: int, match: re.Match[str]) -> tuple[re.Match[str], bytes]:
        try:
            header = self.header.fullmatch(decode(match["protected"]).decode("ascii"))
            sealed = decode(match["ciphertext"]) + decode(match["tag"])
            plain = self.cipher.decrypt(decode(match["iv"]), sealed, match["protected"].encode("ascii"))
        except (ValueError, InvalidTag):
            raise Problem("sealed", seq) from None
        if header is None or match["key"] is not None:
            raise Problem("sealed", seq)
        return header, plain.rstrip(b" ")

    def read_line(self, seq: int, match: re.Match[str]) -> dict[str, Any] | None:
        header, plain = self.open_line(seq, match)
        seen_seq, seen_hash = header.groups()
        if seen_seq is None:
            if seq > 0:
                raise Problem("ahead", seq)
        # A room has at most 100,000 lines, so a longer number is ahead of every line.
        elif len(seen_seq) > 6 or int(seen_seq) >= seq:
            raise Problem("ahead", seq)
        elif self.hashes[int(seen_seq)] != seen_hash:
            raise Problem("fork", seq)

        if (plain == POLICY) != (seq == 0):
            raise Problem("policy", seq)
        if seq == 0:
            return None
        message = parse_message(plain)
        if message is None:
            raise Problem("record", seq)
        if message["id"] in self.ids:
            raise Problem("replay", seq)
        self.ids.add(message["id"])
        members = ("id", "at", "name", "text", "reply_to")
        return {"seq": seq} | {name: message[name] for name in members if name in message}


def main(arguments: list[str]) -> int:
    only_access = arguments[:1] == ["--access"]
    secret = arguments[1:] if only_access else arguments
    if len(secret) != 2 or not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", secret[0]) \
            or not re.fullmatch(r"[!-~]{22,512}", secret[1]):
        print(__doc__, file=sys.stderr)
        return 2
    if only_access:
        print(access_key(*secret))
        return 0
    reader = Reader(*secret)
    try:
        for page in json.load(sys.stdin):
            for message in reader.read_page(page):
                print(json.dumps(message), flush=True)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
