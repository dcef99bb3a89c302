"""What a line says: a policy (who may enter) or a turn (a message). One record has one text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from .._base64url import is_base64url
from .identity import to_json

Check = Callable[[Any], Any]

_MAX_TEXT_BYTES = 16_384
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


class InvalidRecordError(Exception):
    """The payload of a line is no record of a room."""


def parse_record(payload: bytes) -> dict[str, Any]:
    """Reads an opened line's payload. Only exactly what the service writes passes; else raises ``InvalidRecordError``."""
    try:
        text = payload.decode("utf-8")
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidRecordError("is not JSON in UTF-8") from None
    record = _record(value)
    # Repeated members, other orders and other escapes do not survive this.
    if to_json(record) != text:
        raise InvalidRecordError("is not in the canonical form")
    return record


def _object(members: dict[str, Check], required: tuple[str, ...]) -> Check:
    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or not value.keys() <= members.keys():
            raise InvalidRecordError("must be an object with known members")
        missing = [name for name in required if name not in value]
        if missing:
            raise InvalidRecordError(f"has no {missing[0]}")
        return {name: check_member(value[name]) for name, check_member in members.items() if name in value}

    return check


def _text(most: int, pattern: str | None = None) -> Check:
    shape = re.compile(pattern, re.ASCII) if pattern else None

    def check(value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= most or "\0" in value or not _is_well_formed(value):
            raise InvalidRecordError(f"must be text of 1 to {most} characters")
        if shape and not shape.fullmatch(value):
            raise InvalidRecordError("is not of the right form")
        return value

    return check


def _is_well_formed(value: str) -> bool:
    """A lone surrogate cannot be written as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _constant(*expected: object) -> Check:
    def check(value: Any) -> Any:
        if not any(value is one or (isinstance(one, str) and value == one) for one in expected):
            raise InvalidRecordError(f"must be one of {expected}")
        return value

    return check


def _timestamp(value: Any) -> str:
    """RFC 3339, UTC, milliseconds: the one spelling, and a moment that exists."""
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise InvalidRecordError("must be a time in UTC")
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise InvalidRecordError("must be a time in UTC") from None
    return value


def _thumbprint(value: Any) -> str:
    if not isinstance(value, str) or len(value) != 43 or not is_base64url(value):
        raise InvalidRecordError("must be a thumbprint")
    return value


def _distinct(check_entry: Check, name: str) -> Check:
    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise InvalidRecordError("must be a list")
        entries = [check_entry(entry) for entry in value]
        if len({entry[name] for entry in entries}) != len(entries):
            raise InvalidRecordError("names someone twice")
        return entries

    return check


_email = _text(254, r"[^\s@]+@[^\s@]+")
_agent_id = _text(26, r"agt_[0-9A-Za-z]{22}")
_owner_account = _object({"email": _email}, ("email",))
_owner_key = _object({"key": _thumbprint}, ("key",))
_device: dict[str, Check] = {"name": _text(200), "key": _thumbprint, "proven": _constant(True)}


def _owner(value: Any) -> Any:
    return _owner_key(value) if isinstance(value, dict) and "key" in value else _owner_account(value)


def _message_text(value: Any) -> str:
    text: str = _text(_MAX_TEXT_BYTES)(value)
    if len(text.encode()) > _MAX_TEXT_BYTES:
        raise InvalidRecordError(f"is longer than {_MAX_TEXT_BYTES} bytes")
    return text


def _admitted(name: str, check: Check) -> Check:
    return _object({name: check, "admitted_at": _timestamp, "revoked_at": _timestamp}, (name, "admitted_at"))


_policy_members = _object(
    {
        "t": _constant("policy"),
        "policy": _constant("open", "email"),
        "owner": _owner,
        "allow": _distinct(_admitted("email", _email), "email"),
        "agents": _distinct(_admitted("id", _agent_id), "id"),
        "title": _text(200),
        "require_proof": _constant(True),
        "at": _timestamp,
    },
    ("t", "policy", "at"),
)
_authors = {
    "anonymous": _object({"kind": _constant("anonymous"), **_device}, ("kind",)),
    "account": _object({"kind": _constant("account"), "email": _email, **_device}, ("kind", "email")),
    "agent": _object({"kind": _constant("agent"), "id": _agent_id, **_device}, ("kind", "id")),
}


def _policy(value: Any) -> dict[str, Any]:
    record: dict[str, Any] = _policy_members(value)
    # A list in an open room would have no effect, and a list without an owner could never change.
    if record["policy"] == "email":
        is_valid = "allow" in record and "email" in record.get("owner", {})
    else:
        is_valid = "allow" not in record and "agents" not in record
    if not is_valid:
        raise InvalidRecordError("a list, and an account that owns the room, belong to policy email and to no other")
    return record


def _author(value: Any) -> dict[str, Any]:
    kind = value.get("kind") if isinstance(value, dict) else None
    check = _authors.get(kind) if isinstance(kind, str) else None
    if check is None:
        raise InvalidRecordError("has no known author")
    author: dict[str, Any] = check(value)
    if "proven" in author and "key" not in author:
        raise InvalidRecordError("what is proven is proven by a key")
    return author


_turn = _object(
    {
        "t": _constant("turn"),
        "id": _text(64, r"[0-9A-Za-z_-]+"),
        "at": _timestamp,
        "author": _author,
        "message": _object({"text": _message_text, "reply_to": _text(100), "client_id": _text(100)}, ("text",)),
    },
    ("t", "id", "at", "author", "message"),
)


def _record(value: Any) -> dict[str, Any]:
    kind = value.get("t") if isinstance(value, dict) else None
    if kind == "policy":
        return _policy(value)
    if kind == "turn":
        turn: dict[str, Any] = _turn(value)
        return turn
    raise InvalidRecordError("is neither a policy nor a turn")
