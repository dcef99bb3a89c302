"""Makes the error of an answer: in the envelope, flat (Space endpoint), or not from the API."""

from __future__ import annotations

import json
from typing import Any

from ._atrium_error import AtriumError
from ._http import HttpAnswer
from ._retry import retry_after_of
from .errors import BY_CODE


def make_error(message: str, *, status: int, code: str, **fields: Any) -> AtriumError:
    """An error of the class for its code."""
    return BY_CODE.get(code, AtriumError)(message, status=status, code=code, **fields)


def error_of_answer(answer: HttpAnswer) -> AtriumError:
    """The error that a response reports."""
    request_id = answer.headers.get("x-request-id")
    known: dict[str, Any] = {
        "status": answer.status,
        "retry_after": retry_after_of(answer.headers.get("retry-after")),
        "request_id": request_id,
    }
    body = _object_of(answer.body)
    error = body.get("error")
    if isinstance(error, str):
        reason = _text_of(body.get("reason"))
        message = f"{error}: {reason}" if reason else error
        return make_error(message, code=error, reason=reason, doc_url=_text_of(body.get("doc_url")), **known)
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        # A proxy's page, or an empty body: only the status is known.
        message = f"The server answered {answer.status} without an error code"
        if 300 <= answer.status < 400:
            message = f"The server redirects ({answer.status}), and the API never does: is the base URL right?"
        return make_error(message, code="unexpected_answer", **known)
    details = error.get("details")
    known["request_id"] = _text_of(error.get("request_id")) or request_id
    return make_error(
        _text_of(error.get("message")) or error["code"],
        code=error["code"],
        reason=_text_of(error.get("reason")),
        doc_url=_text_of(error.get("doc_url")),
        details=[entry for entry in details if isinstance(entry, dict)] if isinstance(details, list) else None,
        **known,
    )


def json_of(answer: HttpAnswer) -> Any:
    """The JSON of an answer. Raises ``UnexpectedAnswerError`` for anything else."""
    try:
        return json.loads(answer.body)
    except ValueError as cause:
        content_type = answer.headers.get("content-type") or "a body without a type"
        what = "broken JSON" if "json" in content_type else f"{content_type} in place of JSON: is the base URL right?"
        message = f"The server answered {answer.status} with {what}"
        raise make_error(message, status=answer.status, code="unexpected_answer") from cause


def _object_of(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text_of(value: object) -> str | None:
    return value if isinstance(value, str) else None
