"""Reads a room whose lines the clients seal. Written from docs/space/client-sealed.md, without another implementation.

Usage: client_sealed_reader.py ROOM MK < pages.json     checks the pages and prints the messages
       client_sealed_reader.py --access ROOM MK         prints the public access key
       client_sealed_reader.py --listed ROOM OWNER KEYS < pages.json
           the same for a room with a list of devices. OWNER: the name of the owner's device. KEYS: x, y and d of the
           two keys of the device that reads, as in an invitation.
       client_sealed_reader.py --tokens ROOM OWNER KEYS ISSUER CLIENT < pages.json
           prints for each device its ID token's e-mail address, or why the token is rejected, by the keys that the owner
           has sealed
       client_sealed_reader.py --offered ROOM OWNER KEYS < pages.json
           prints the second devices that the owner may let in, the newest first
       client_sealed_reader.py --listed-each ROOM OWNER KEYS < rooms.json
           the same for a list of such rooms, of each of which it prints the problem, or an empty line
       client_sealed_reader.py --each ROOM MK < rooms.json
           the same for open rooms
"""

import base64
import hashlib
import json
import math
import re
import sys
import unicodedata
from datetime import date, datetime, timezone
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

POLICY = b'{"t":"policy","policy":"open"}'
# Every JSON parser reads a number of 15 digits exactly.
NUMBER = r"0|[1-9][0-9]{0,14}"
HASH = r"[A-Za-z0-9_-]{43}"

LINE = re.compile(
    r'\{"protected":"(?P<protected>[A-Za-z0-9_-]+)",'
    rf'"unprotected":\{{"seq":(?P<seq>{NUMBER})(?:,"prev":"(?P<prev>{HASH})")?\}},'
    r'"iv":"(?P<iv>[A-Za-z0-9_-]{16})",'
    r'"ciphertext":"(?P<ciphertext>[A-Za-z0-9_-]+)",'
    r'"tag":"(?P<tag>[A-Za-z0-9_-]{22})"\}'
)
TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
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
    if not isinstance(value, str) or not TIME.fullmatch(value):
        return False
    try:
        # datetime begins with year 1. The years 0 and 4 both have 366 days.
        date.fromisoformat("0004" + value[4:10] if value.startswith("0000") else value[:10])
    except ValueError:
        return False
    return True


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def number(text: str) -> int | float:
    """The number of binary64. An int: it is one that binary64 has exactly, however it is spelled."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def is_nested(text: str, most: int) -> bool:
    """Counted in the text: of a member that comes twice, the value has only the last one."""
    depth = 0
    for token in re.findall(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', text):
        depth += 1 if token in "[{" else -1 if token in "]}" else 0
        if depth > most:
            return False
    return True


def parse_object(plain: bytes) -> dict[str, Any] | None:
    """The JSON object that is nested up to 64 deep; None if this is none."""
    try:
        text = plain.decode("utf-8")
        value = json.loads(text, parse_constant=refuse_constant, parse_int=number, parse_float=number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_nested(text, 64) else None


def as_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message, or None if this is not one. Members that the specification does not name are ignored."""
    if value.get("t") != "turn":
        return None
    good = is_text(value.get("id"), 100) and is_time(value.get("at")) and is_text(value.get("text"), 16384)
    good = good and ("name" not in value or is_text(value["name"], 80))
    good = good and ("reply_to" not in value or is_text(value["reply_to"], 100))
    return value if good else None


def as_farewell(value: dict[str, Any], room: str) -> dict[str, Any] | None:
    if value.get("t") != "farewell":
        return None
    said = {name: value[name] for name in ("id", "at", "name") if name in value} | {"t": "turn", "text": "-"}
    if as_message(said) is None:
        return None
    link = re.fullmatch(r"([A-Za-z0-9_-]{1,128})~([!-~]{22,512})", str(value.get("link", "other~" + "x" * 22)))
    return value if link and link[1] != room else None


def header_pattern(room: str, generation: int) -> re.Pattern[str]:
    """The header has one spelling only, so a pattern says more than a JSON parser would."""
    return re.compile(
        rf'\{{"alg":"dir","enc":"A256GCM","room":"{room}","generation":{generation}'
        rf'(?:,"seen":\{{"seq":({NUMBER}),"hash":"({HASH})"\}})?\}}'
    )


def canonical(match: re.Match[str] | None) -> re.Match[str] | None:
    """The parts of a line have one spelling each, and only number 0 has no hash of the line before."""
    if match is None or (match["prev"] is None) != (match["seq"] == "0"):
        return None
    parts = [match[name] for name in ("protected", "prev", "iv", "ciphertext", "tag")]
    return match if all(part is None or is_base64url(part) for part in parts) else None


class Reader:
    def __init__(self, room: str, mk: str) -> None:
        self.room = room
        self.farewell = ""
        self.cipher = AESGCM(derive(room, mk, "line"))
        self.header = header_pattern(room, 0)
        self.hashes: list[str] = []
        self.ids: set[str] = set()

    def notice(self) -> str:
        return self.farewell

    def parse_line(self, line: Any) -> re.Match[str] | None:
        return canonical(LINE.fullmatch(line)) if isinstance(line, str) else None

    def read_page(self, page: Any) -> list[dict[str, Any]]:
        start, matches = self.check_page(page)
        messages = [self.read_line(seq, match) for seq, match in enumerate(matches, start)]
        return [message for message in messages if message is not None]

    def check_page(self, page: Any) -> tuple[int, list[re.Match[str]]]:
        start = len(self.hashes)
        if not isinstance(page, dict) or type(page.get("count")) is not int or not isinstance(page.get("lines"), list):
            raise Problem("form", start)
        lines: list[Any] = page["lines"]
        found = [self.parse_line(line) for line in lines]

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
        return start, matches

    def open_line(self, seq: int, match: re.Match[str]) -> tuple[re.Match[str], bytes]:
        try:
            header = self.header.fullmatch(decode(match["protected"]).decode("ascii"))
            sealed = decode(match["ciphertext"]) + decode(match["tag"])
            plain = self.cipher.decrypt(decode(match["iv"]), sealed, match["protected"].encode("ascii"))
        except (ValueError, InvalidTag):
            raise Problem("sealed", seq) from None
        if header is None or (header[2] is not None and not is_hash(header[2])):
            raise Problem("sealed", seq)
        return header, plain.rstrip(b" ")

    def read_line(self, seq: int, match: re.Match[str]) -> dict[str, Any] | None:
        header, plain = self.open_line(seq, match)
        self.check_header(header, seq)
        if (plain == POLICY) != (seq == 0):
            raise Problem("policy", seq)
        if seq == 0:
            return None
        record = parse_object(plain) or {}
        farewell = as_farewell(record, self.room)
        if farewell is None:
            return self.show(as_message(record), seq)
        self.show(farewell | {"text": "-"}, seq)
        self.farewell = self.farewell or f"farewell at {seq} to {farewell.get('link', 'a room whose link is given by hand')}"
        return None

    def check_header(self, header: re.Match[str], seq: int) -> None:
        seen_seq, seen_hash = header.groups()
        if seen_seq is None:
            if seq > 0:
                raise Problem("ahead", seq)
        elif int(seen_seq) >= seq:
            raise Problem("ahead", seq)
        elif self.hashes[int(seen_seq)] != seen_hash:
            raise Problem("fork", seq)

    def show(self, message: dict[str, Any] | None, seq: int) -> dict[str, Any]:
        if message is None:
            raise Problem("record", seq)
        if message["id"] in self.ids:
            raise Problem("replay", seq)
        self.ids.add(message["id"])
        members = ("id", "at", "name", "text", "reply_to")
        return {"seq": seq} | {name: message[name] for name in members if name in message}


JWS = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
LIST = re.compile(
    r'\{"protected":"(?P<protected>[A-Za-z0-9_-]+)",'
    rf'"unprotected":\{{"seq":(?P<seq>{NUMBER})(?:,"prev":"(?P<prev>{HASH})")?\}},'
    r'"recipients":(?P<recipients>\[.+\]),'
    r'"iv":"(?P<iv>[A-Za-z0-9_-]{16})",'
    r'"ciphertext":"(?P<ciphertext>[A-Za-z0-9_-]+)",'
    r'"tag":"(?P<tag>[A-Za-z0-9_-]{22})"\}'
)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def sha256(data: bytes) -> str:
    return encode(hashlib.sha256(data).digest())


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(HASH, value) is not None and is_base64url(value)


def read_key(value: Any) -> dict[str, str] | None:
    """A public P-256 key with these members and no others."""
    if not isinstance(value, dict) or set(value) != {"kty", "crv", "x", "y"}:
        return None
    good = value["kty"] == "EC" and value["crv"] == "P-256" and is_hash(value["x"]) and is_hash(value["y"])
    return value if good else None


def name_of(key: dict[str, str]) -> str:
    return sha256(compact({name: key[name] for name in ("crv", "kty", "x", "y")}).encode("utf-8"))


def public_key(key: dict[str, str]) -> ec.EllipticCurvePublicKey:
    x, y = (int.from_bytes(decode(key[name])) for name in ("x", "y"))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def read_jws(text: Any, kind: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Header and payload of a compact JWS of this type, of which nothing is verified."""
    if not isinstance(text, str) or not JWS.fullmatch(text):
        return None
    try:
        parts = [decode(part) for part in text.split(".")]
    except ValueError:
        return None
    header, payload = parse_object(parts[0]), parse_object(parts[1])
    if header is None or payload is None:
        return None
    if header.get("alg") != "ES256" or header.get("typ") != kind or "crit" in header or "b64" in header:
        return None
    return header, payload


def is_signed(text: str, key: dict[str, str]) -> bool:
    signed, _, signature = text.rpartition(".")
    pair = decode(signature)
    if len(pair) != 64:
        return False
    der = encode_dss_signature(int.from_bytes(pair[:32]), int.from_bytes(pair[32:]))
    try:
        public_key(key).verify(der, signed.encode("ascii"), ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def read_card(text: Any, room: str) -> dict[str, Any] | None:
    parts = read_jws(text, "atrium-device+jws")
    if parts is None:
        return None
    payload = parts[1]
    good = payload.get("room") == room and read_key(payload.get("spk")) and read_key(payload.get("epk"))
    good = good and ("name" not in payload or is_text(payload["name"], 80))
    return payload if good and is_signed(text, payload["spk"]) else None


def is_base64url(text: str) -> bool:
    try:
        return re.fullmatch(r"[A-Za-z0-9_-]+", text) is not None and decode(text) != b""
    except ValueError:
        return False


def is_identity(payload: dict[str, Any]) -> bool:
    return is_text(payload.get("id_token"), 16384) and is_time(payload.get("at"))


def are_issuers(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    for one in value:
        if not isinstance(one, dict) or not isinstance(one.get("issuer"), str) or not isinstance(one.get("keys"), list):
            return False
        for key in one["keys"]:
            if not isinstance(key, dict) or not {"kty", "n", "e"} <= set(key) <= {"kty", "kid", "n", "e"}:
                return False
            if key["kty"] != "RSA" or not isinstance(key.get("kid", ""), str):
                return False
            if not all(is_text(key[name], 2048) and is_base64url(key[name]) for name in ("n", "e")):
                return False
    return True


class ListedReader(Reader):
    """Reads a room with a list of devices."""

    def __init__(self, room: str, owner: str, keys: str) -> None:
        self.room, self.owner, self.farewell = room, owner, ""
        self.device = name_of({"kty": "EC", "crv": "P-256", "x": keys[:43], "y": keys[43:86]})
        self.private = ec.derive_private_key(int.from_bytes(decode(keys[215:])), ec.SECP256R1())
        self.hashes: list[str] = []
        self.ids: set[str] = set()
        self.lists: list[dict[str, Any]] = []
        self.mks: dict[int, str] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.answered: dict[str, str] = {}
        self.tokens: dict[str, dict[str, str]] = {}
        self.invited: dict[str, str] = {}
        self.named_by: dict[str, str] = {}
        self.invites: dict[str, dict[str, Any]] = {}
        # What all lists that were read have named, and the agents of those that were taken, by device.
        self.hosted: dict[str, dict[str, str]] = {}
        self.agents: dict[str, str] = {}
        self.listed: list[str] = []
        self.waiting: list[tuple[int, re.Match[str], dict[str, Any], bool]] = []

    def notice(self) -> str:
        """Whose operator can read along, by the newest list."""
        agents = [one["agent"] for one in self.lists[-1]["policy"].get("hosted", [])]
        return f"the operator of {', '.join(agents)} can read along" if agents else ""

    def parse_line(self, line: Any) -> re.Match[str] | None:
        if not isinstance(line, str):
            return None
        match = LIST.fullmatch(line)
        if match is None:
            return canonical(LINE.fullmatch(line))
        return match if canonical(match) and self.recipients(match) is not None and self.policy(match) is not None else None

    def policy(self, match: re.Match[str]) -> str | None:
        try:
            policy = json.loads(decode(match["protected"]).decode("utf-8"))["policy"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        if not isinstance(policy, str) or not JWS.fullmatch(policy):
            return None
        header = compact({"enc": "A256GCM", "policy": policy})
        return policy if encode(header.encode("utf-8")) == match["protected"] else None

    def recipients(self, match: re.Match[str]) -> list[dict[str, Any]] | None:
        try:
            values = json.loads(match["recipients"])
            for value in values:
                header = value["header"]
                if header["kid"] == "room":
                    good = header["alg"] == "A256KW" and list(header) == ["alg", "kid"]
                else:
                    good = header["alg"] == "ECDH-ES+A256KW" and is_hash(header["kid"]) and read_key(header["epk"])
                    good = good and list(header) == ["alg", "kid", "epk"] and list(header["epk"]) == ["kty", "crv", "x", "y"]
                if not good or list(value) != ["header", "encrypted_key"]:
                    return None
                if len(decode(value["encrypted_key"])) != 40:
                    return None
            return values if compact(values) == match["recipients"] else None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def read_page(self, page: Any) -> list[dict[str, Any]]:
        start, matches = self.check_page(page)
        for seq, match in enumerate(matches, start):
            is_list = "recipients" in match.re.groupindex
            if is_list:
                self.lists.append(self.read_list(seq, match))
            if not self.lists:
                raise Problem("policy", seq)
            self.waiting.append((seq, match, self.lists[-1], is_list))
        for item in reversed(self.lists):
            if item["content"] is None:
                self.open_list(item)
        messages = []
        while self.waiting and self.waiting[0][2]["content"] is not None:
            message = self.take(*self.waiting.pop(0))
            if message is not None:
                messages.append(message)
        return messages

    def read_list(self, seq: int, match: re.Match[str]) -> dict[str, Any]:
        text = self.policy(match)
        assert text is not None
        plain = read_jws(text, "atrium-policy+jws")
        parts = plain or read_jws(text, "atrium-hosted-policy+jws")
        if parts is None or not self.is_policy(parts[1]) or (plain is None) != ("hosted" in parts[1]):
            raise Problem("policy", seq)
        header, policy = parts
        if "hosted" in policy and not self.are_hosted(policy["hosted"], policy):
            raise Problem("policy", seq)
        key = read_key(header.get("jwk"))
        if key is None or name_of(key) != policy["owner"] or not is_signed(text, key):
            raise Problem("signature", seq)
        hosted = self.read_hosted(policy) if self.may_follow(policy) else None
        if hosted is None:
            raise Problem("policy", seq)
        self.check_seen(policy.get("seen"), seq)
        recipients = self.recipients(match)
        assert recipients is not None
        if [value["header"]["kid"] for value in recipients] != [*policy["devices"], "room"]:
            raise Problem("recipients", seq)
        item = {"seq": seq, "match": match, "policy": policy, "recipients": recipients, "content": None}
        return item | {"hosted": hosted}

    def are_hosted(self, hosted: Any, policy: dict[str, Any]) -> bool:
        if not isinstance(hosted, list) or not hosted:
            return False
        for one in hosted:
            if not isinstance(one, dict) or not isinstance(one.get("agent"), str) or not isinstance(one.get("card"), str):
                return False
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one["agent"]) or one.get("device") == policy["owner"]:
                return False
            if not is_hash(one.get("device")) or one["device"] not in policy["devices"]:
                return False
        return len({one["device"] for one in hosted}) == len(hosted)

    def read_hosted(self, policy: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
        """The cards of the agents that the list names, by device. None: it contradicts the lists before."""
        named = {one["device"]: one for one in policy.get("hosted", [])}
        for device in policy["devices"]:
            before, now = self.hosted.get(device), named.get(device)
            if before is not None:
                if now is None or (now["agent"], now["card"]) != (before["agent"], before["card"]):
                    return None
            elif now is not None and self.lists and device in self.lists[-1]["policy"]["devices"]:
                return None
        cards = {device: read_card(one["card"], self.room) for device, one in named.items()}
        if any(card is None or name_of(card["spk"]) != device for device, card in cards.items()):
            return None
        self.hosted |= named
        return {device: card for device, card in cards.items() if card is not None}

    def is_policy(self, policy: dict[str, Any]) -> bool:
        names = [policy.get("devices"), policy.get("revoked")]
        if not all(isinstance(value, list) and all(map(is_hash, value)) for value in names):
            return False
        devices, revoked = policy["devices"], policy["revoked"]
        seen = policy.get("seen")
        good_seen = "seen" not in policy or (
            isinstance(seen, dict) and type(seen.get("seq")) is int and seen["seq"] >= 0 and is_hash(seen.get("hash"))
        )
        return (
            isinstance(policy.get("room"), str)
            and type(policy.get("generation")) is int
            and good_seen
            and ("prev" not in policy or is_hash(policy["prev"]))
            and all(is_hash(policy.get(name)) for name in ("access", "owner", "content"))
            and policy["owner"] in devices
            and len({*devices, *revoked}) == len(devices) + len(revoked)
        )

    def may_follow(self, policy: dict[str, Any]) -> bool:
        prev = self.hashes[self.lists[-1]["seq"]] if self.lists else None
        if policy["room"] != self.room or policy["owner"] != self.owner or policy.get("prev") != prev:
            return False
        if not self.lists:
            return policy["generation"] == 0
        last = self.lists[-1]["policy"]
        same = policy["access"] == last["access"]
        if policy["generation"] == last["generation"]:
            return same and set(last["devices"]) <= set(policy["devices"])
        return policy["generation"] == last["generation"] + 1 and not same

    def check_seen(self, seen: Any, seq: int) -> None:
        if seen is None:
            if seq > 0:
                raise Problem("ahead", seq)
        elif seen["seq"] >= seq:
            raise Problem("ahead", seq)
        elif self.hashes[seen["seq"]] != seen["hash"]:
            raise Problem("fork", seq)

    def content_key(self, item: dict[str, Any]) -> bytes | None:
        """None: the list is for others only. InvalidUnwrap: it should open, and does not."""
        for value in item["recipients"]:
            if value["header"]["kid"] == self.device:
                shared = self.private.exchange(ec.ECDH(), public_key(value["header"]["epk"]))
                name = b"ECDH-ES+A256KW"
                info = len(name).to_bytes(4) + name + bytes(4) + bytes(4) + (256).to_bytes(4)
                kek = ConcatKDFHash(SHA256(), 32, info).derive(shared)
                return aes_key_unwrap(kek, decode(value["encrypted_key"]))
        mk = self.mks.get(item["policy"]["generation"])
        if mk is None:
            return None
        return aes_key_unwrap(derive(self.room, mk, "policy"), decode(item["recipients"][-1]["encrypted_key"]))

    def open_list(self, item: dict[str, Any]) -> None:
        seq, match, policy = item["seq"], item["match"], item["policy"]
        try:
            key = self.content_key(item)
            if key is None:
                return
            sealed = decode(match["ciphertext"]) + decode(match["tag"])
            plain = AESGCM(key).decrypt(decode(match["iv"]), sealed, match["protected"].encode("ascii")).rstrip(b" ")
            plain.decode("utf-8")
        except (ValueError, InvalidTag, InvalidUnwrap):
            raise Problem("sealed", seq) from None
        if sha256(plain) != policy["content"]:
            raise Problem("sealed", seq)
        content = self.read_content(plain, policy)
        if content is None:
            raise Problem("record", seq)
        self.learn(policy["generation"], content["mk"], seq)
        if "before" in content:
            self.learn(policy["generation"] - 1, content["before"], seq)
        item["content"] = content

    def read_content(self, plain: bytes, policy: dict[str, Any]) -> dict[str, Any] | None:
        content = parse_object(plain) or {}
        if not isinstance(content.get("mk"), str):
            return None
        card = read_card(content.get("owner"), self.room)
        invites = content.get("invites")
        if card is None or name_of(card["spk"]) != policy["owner"] or not isinstance(invites, list):
            return None
        if ("before" in content) != (policy["generation"] > 0) or not isinstance(content.get("before", ""), str):
            return None
        for invite in invites:
            good = isinstance(invite, dict) and read_key(invite.get("spk")) and read_key(invite.get("epk"))
            if not good or not isinstance(invite.get("for"), str) or invite.get("key") not in policy["devices"]:
                return None
            if name_of(invite["spk"]) != invite["key"]:
                return None
            if any(one["device"] == invite["key"] for one in policy.get("hosted", [])):
                return None
        if not are_issuers(content.get("issuers", [])):
            return None
        return content | {"card": card}

    def learn(self, generation: int, mk: str, seq: int) -> None:
        if self.mks.get(generation) == mk:
            return
        signed = next(item["policy"]["access"] for item in self.lists if item["policy"]["generation"] == generation)
        good = re.fullmatch(r"[!-~]{22,512}", mk) and access_key(self.room, mk) == signed
        if not good or generation in self.mks:
            raise Problem("key", seq)
        self.mks[generation] = mk

    def take(self, seq: int, match: re.Match[str], item: dict[str, Any], is_list: bool) -> dict[str, Any] | None:
        content, policy = item["content"], item["policy"]
        if is_list:
            for device in set(self.listed).difference(policy["devices"]) & set(self.cards):
                self.cards[device] = {name: value for name, value in self.cards[device].items() if name != "member"}
            self.listed = policy["devices"]
            self.cards |= {self.owner: content["card"]} | item["hosted"]
            self.agents |= {one["device"]: one["agent"] for one in policy.get("hosted", [])}
            self.invites = {invite["key"]: invite for invite in content["invites"]}
            return None
        generation = policy["generation"]
        self.cipher = AESGCM(derive(self.room, self.mks[generation], "line"))
        self.header = header_pattern(self.room, generation)
        header, plain = self.open_line(seq, match)
        self.check_header(header, seq)
        try:
            text = plain.decode("utf-8")
        except ValueError:
            raise Problem("record", seq) from None
        parts = read_jws(text, "atrium-line+jws")
        if parts is None:
            raise Problem("record", seq)
        kid = parts[0].get("kid")
        invite = self.invites.get(kid) if kid in policy["devices"] else None
        author = invite or (self.cards.get(kid) if kid in policy["devices"] else None)
        if author is None:
            raise Problem("author", seq)
        if parts[0].get("line") != sha256(match["protected"].encode("ascii")) or not is_signed(text, author["spk"]):
            raise Problem("signature", seq)
        if invite is not None:
            self.answer(invite, parts[1], seq, policy)
            return None
        if parts[1].get("t") == "identity":
            self.identify(kid, parts[1], seq)
            return None
        if parts[1].get("t") == "vouch":
            self.vouch(kid, parts[1], seq, policy)
            return None
        message = as_message(parts[1])
        return self.show(message, seq) | {"author": kid, "generation": generation} | self.how_known(kid)

    def how_known(self, device: str) -> dict[str, str]:
        """Whom the owner had invited, who has named a second device, and which agent of the operator it is."""
        known = {"invited": self.invited.get(device), "named_by": self.named_by.get(device)}
        agent = {"hosted": self.agents[device]} if device in self.agents else {}
        return {name: value for name, value in known.items() if value is not None} | agent

    def has_agreed(self, device: str) -> bool:
        """Whether the card of the device names the device that has named it."""
        by = self.named_by.get(device)
        return by is not None and self.cards[device].get("member") == by

    def set_card(self, card: dict[str, Any], invited: str | None) -> str:
        """Nothing that others have said of the device before counts."""
        key = name_of(card["spk"])
        for known in (self.named_by, self.invited, self.tokens):
            known.pop(key, None)
        self.answered = {invite: by for invite, by in self.answered.items() if by != key}
        self.cards[key] = card
        if invited is not None:
            self.invited[key] = invited
        return key

    def is_open(self, key: str, policy: dict[str, Any]) -> bool:
        """Whether a line may count in place of what the room has said of the device before."""
        if key in policy["devices"] or key in self.agents:
            return False
        return not self.has_agreed(key) or self.named_by[key] not in policy["devices"]

    def answer(self, invite: dict[str, Any], payload: dict[str, Any], seq: int, policy: dict[str, Any]) -> None:
        card = read_card(payload.get("card"), self.room) if payload.get("t") == "answer" else None
        if card is None:
            raise Problem("record", seq)
        key = name_of(card["spk"])
        if "id_token" in payload and not is_identity(payload):
            raise Problem("record", seq)
        agreed = card.get("member") == invite["key"]
        accepted = agreed or (key in self.named_by and key not in policy["revoked"])
        counts = key not in self.cards or (accepted and self.is_open(key, policy))
        if invite["key"] not in self.answered and counts:
            self.answered[invite["key"]] = self.set_card(card, invite["for"])
            if "id_token" in payload:
                self.identify(key, payload, seq)

    def vouch(self, by: str, payload: dict[str, Any], seq: int, policy: dict[str, Any]) -> None:
        card = read_card(payload.get("card"), self.room)
        if card is None:
            raise Problem("record", seq)
        key = name_of(card["spk"])
        if any(one["device"] == by for one in policy.get("hosted", [])):
            return
        if key in self.cards and (card.get("member") != by or not self.is_open(key, policy)):
            return
        self.named_by[self.set_card(card, self.invited.get(by))] = by

    def offered(self) -> list[str]:
        """The second devices that the owner may let in, the newest first."""
        policy = self.lists[-1]["policy"]
        found: list[str] = []
        for device, by in reversed(self.named_by.items()):
            is_open = by in policy["devices"] and device not in policy["devices"] + policy["revoked"]
            of_same = [other for other in found if self.named_by[other] == by]
            if is_open and self.has_agreed(device) and len(of_same) < 5:
                found.append(device)
        return found

    def issuer_keys(self, issuer: str) -> list[dict[str, str]]:
        """Those that the owner has sealed in the newest list."""
        opened = [item["content"] for item in self.lists if item["content"] is not None]
        issuers = opened[-1].get("issuers", []) if opened else []
        return [key for one in issuers if one["issuer"] == issuer for key in one["keys"]]

    def identify(self, key: str, payload: dict[str, Any], seq: int) -> None:
        if not is_identity(payload):
            raise Problem("record", seq)
        self.tokens.setdefault(key, {"device": key, "at": payload["at"], "id_token": payload["id_token"]})


def judge(reader: ListedReader, device: str, issuer: str, client: str) -> str:
    """The e-mail address, or the first check that fails."""
    record = reader.tokens.get(device)
    if record is None:
        return "unsigned"
    claims, problem = read_token(record["id_token"], reader.issuer_keys(issuer))
    if problem:
        return f"token: {problem}"
    problem = check_claims(claims, issuer, client, seconds(record["at"]))
    if problem:
        return f"token: {problem}"
    if claims["nonce"] != device:
        return "nonce_mismatch"
    email, invited = address(claims["email"]), address(reader.invited.get(device))
    if device in reader.lists[-1]["policy"]["revoked"]:
        return "revoked"
    return "not_on_list" if invited is not None and invited != email else email or ""


def seconds(at: str) -> float:
    if at.startswith("0000"):
        return float("-inf")
    latest = datetime.now(timezone.utc).timestamp() + 300
    return min(datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp(), latest)


def units(text: str) -> int:
    """The length in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs) or any(name == "__proto__" for name, _ in pairs):
        raise ValueError("a name twice, or __proto__")
    return dict(pairs)


def is_plain(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return "\0" not in value and not re.search("[\ud800-\udfff]", value)
    if not isinstance(value, (list, dict)):
        return True
    if depth == 0:
        return False
    names = list(value) if isinstance(value, dict) else []
    inner = list(value.values()) if isinstance(value, dict) else value
    return all(is_plain(one, depth) for one in names) and all(is_plain(one, depth - 1) for one in inner)


def strict_object(part: str) -> dict[str, Any] | None:
    """A part of a token: an object that every JSON parser reads in the same way."""
    try:
        if not is_base64url(part):
            return None
        text = decode(part).decode("utf-8")
        value = json.loads(text, parse_constant=refuse_constant, parse_int=float, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_plain(value, 64) else None


def read_token(token: str, keys: list[dict[str, str]]) -> tuple[dict[str, Any], str]:
    parts = token.split(".")
    header = strict_object(parts[0])
    if len(parts) != 3 or parts[1] == "" or header is None or units(token) > 16384:
        return {}, "malformed"
    head, body, signature = parts
    typ, kid = header.get("typ", "JWT"), header.get("kid", "")
    if "crit" in header or "b64" in header or not isinstance(kid, str) or not isinstance(typ, str):
        return {}, "malformed"
    if not re.fullmatch(r"(application/)?jwt", typ, re.IGNORECASE | re.ASCII):
        return {}, "malformed"
    fitting = [key for key in keys if key.get("kid") == kid] if "kid" in header else keys if len(keys) == 1 else []
    if header.get("alg") != "RS256" or not fitting:
        return {}, "bad_signature"
    modulus, exponent = (decode(fitting[0][name]) for name in ("n", "e"))
    n, e = int.from_bytes(modulus), int.from_bytes(exponent)
    if modulus[0] == 0 or not 2048 <= n.bit_length() <= 8192 or len(exponent) > 8 or e < 3 or e % 2 == 0:
        return {}, "bad_signature"
    try:
        key = rsa.RSAPublicNumbers(e, n).public_key()
        key.verify(decode(signature), f"{head}.{body}".encode("utf-8"), padding.PKCS1v15(), SHA256())
    except (ValueError, InvalidSignature):
        return {}, "bad_signature"
    claims = strict_object(body)
    return (claims, "") if claims is not None else ({}, "malformed")


def is_filled(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def check_claims(claims: dict[str, Any], issuer: str, client: str, now: float) -> str:
    times = [claims.get("exp"), claims.get("iat"), claims.get("nbf", claims.get("iat"))]
    good = is_filled(claims.get("sub")) and units(claims["sub"]) <= 255 and is_filled(claims.get("nonce"))
    if not good or not all(type(t) is float and math.isfinite(t) for t in times):
        return "malformed"
    exp, iat, nbf = times
    if claims.get("iss") != issuer:
        return "bad_issuer"
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client not in audiences or not all(map(is_filled, audiences)):
        return "bad_aud"
    if claims.get("azp", client if len(audiences) == 1 else None) != client:
        return "bad_aud"
    if now >= exp + 60 or now > iat + 12 * 3600 + 60:
        return "expired"
    if max(iat, nbf) > now + 60:
        return "not_yet_valid"
    return "" if address(claims.get("email")) and claims.get("email_verified") is True else "unverified_email"


SPACES = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" \
    "\u2028\u2029\u202f\u205f\u3000\ufeff"


def lowered(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())


def address(value: Any) -> str | None:
    """The e-mail address as it is compared; None: it is no address."""
    if not isinstance(value, str) or units(value) > 320:
        return None
    typed = value.strip(SPACES)
    if any(not char.isascii() and lowered(char).isascii() for char in typed):
        return None
    text = lowered(typed)
    local, at, domain = text.partition("@")
    if not at or "@" in domain or len(text.encode("utf-8", "replace")) > 254 or len(local.encode("utf-8", "replace")) > 64:
        return None

    def are(chars: str, classes: str, more: str) -> bool:
        return all(char in more or unicodedata.category(char)[0] in classes for char in chars)

    atoms, labels = local.split("."), domain.split(".")
    good = all(atom and are(atom, "LMN", "!#$%&'*+-/=?^_`{|}~") for atom in atoms)
    for label in labels:
        good = good and label != "" and units(label) <= 63 and are(label, "LMN", "-")
        good = good and are(label[:1], "LN", "") and are(label[-1:], "LMN" if len(label) > 1 else "LN", "")
    return text if good else None


def print_tokens(reader: ListedReader, issuer: str, client: str) -> int:
    for page in json.load(sys.stdin):
        reader.read_page(page)
    for device in reader.cards:
        print(json.dumps([device, judge(reader, device, issuer, client)]))
    return 0


def print_offered(reader: ListedReader) -> int:
    for page in json.load(sys.stdin):
        reader.read_page(page)
    for device in reader.offered():
        print(json.dumps({"device": device} | reader.how_known(device)))
    return 0


def main(arguments: list[str]) -> int:
    if len(arguments) == 4 and arguments[0] == "--offered":
        return print_offered(ListedReader(*arguments[1:]))
    if len(arguments) == 6 and arguments[0] == "--tokens":
        return print_tokens(ListedReader(*arguments[1:4]), *arguments[4:])
    if len(arguments) == 4 and arguments[0] == "--listed":
        return read_pages(ListedReader(*arguments[1:]))
    if len(arguments) in (3, 4) and arguments[0] in ("--each", "--listed-each"):
        for pages in json.load(sys.stdin):
            print(find_problem((Reader if arguments[0] == "--each" else ListedReader)(*arguments[1:]), pages))
        return 0
    only_access = arguments[:1] == ["--access"]
    secret = arguments[1:] if only_access else arguments
    if len(secret) != 2 or not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", secret[0]) \
            or not re.fullmatch(r"[!-~]{22,512}", secret[1]):
        print(__doc__, file=sys.stderr)
        return 2
    if only_access:
        print(access_key(*secret))
        return 0
    return read_pages(Reader(*secret))


def find_problem(reader: Reader, pages: list[Any]) -> str:
    try:
        for page in pages:
            reader.read_page(page)
    except Problem as problem:
        return str(problem)
    return ""


def read_pages(reader: Reader) -> int:
    try:
        for page in json.load(sys.stdin):
            for message in reader.read_page(page):
                print(json.dumps(message), flush=True)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    print(reader.notice(), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
