"""How every operation is called: address, credential, retries, answer."""

from __future__ import annotations

import hashlib
import http.client
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

from ._atrium_error import AtriumError
from ._error_of_answer import error_of_answer, json_of, make_error
from ._http import Http, HttpAnswer, HttpRequest, OpenAnswer, user_agent
from ._retry import Sleep, with_retries
from ._version import VERSION
from .answer import Answer, Page
from .streams import EventStream

Caller = Literal["secret", "publishable", "operator", "control", "anyone"]

_SILENCE_SECONDS = 45.0
"""The server of a stream or an export sends something every 15 seconds."""


@dataclass(frozen=True)
class Route:
    """Where and how an operation is called."""

    method: str
    path: str
    """From the origin on."""
    caller: Caller
    keyed: str | None = None
    """The operation's id in the contract, if it takes an Idempotency-Key."""
    billed: bool = False
    """Whether it needs an Idempotency-Key, because it moves credits."""
    raw: bool = False
    """Whether the answer has no envelope."""


@dataclass(frozen=True)
class Settings:
    """What the client was made with."""

    root_url: str
    """The origin, without /v1."""
    key: str | None
    control_token: str | None
    admin_token: str | None
    timeout: float
    retries: int
    sleep: Sleep


class Core:
    """The base of the generated operations."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = Http()

    def _call(
        self,
        route: Route,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
        collection_token: str | None = None,
        control_token: str | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[Any]:
        key = idempotency_key
        if key is None and route.keyed is not None:
            key = secrets.token_urlsafe(16)
        request = self._request(route, path, query, headers, body, collection_token, control_token, key)

        # GET and PUT are idempotent (RFC 9110, 9.2.2). DELETE is too, but its retry would fail with 404.
        if repeatable is None:
            repeatable = route.keyed is not None or route.method in ("GET", "PUT")
        return with_retries(
            self._attempt(route, request, timeout, repeatable),
            retries=self._settings.retries,
            repeatable=repeatable,
            sleep=self._settings.sleep,
        )

    def _attempt(
        self, route: Route, request: HttpRequest, timeout: float | None, repeatable: bool
    ) -> Callable[[], Answer[Any]]:
        """Sends the request once. If the answer of an earlier attempt was lost and the operation bills, it asks for the
        outcome before it sends the request again. It also asks after a lost answer that must not lead to a repeat.
        """
        can_ask = route.keyed is not None and route.caller in ("secret", "publishable")
        is_lost = False

        def attempt() -> Answer[Any]:
            nonlocal is_lost
            found = self._outcome(route, request, timeout) if is_lost and can_ask and route.billed else None
            if found is not None:
                return found
            try:
                return _answer_of(self._send(request, timeout), route)
            except AtriumError as error:
                is_lost = error.status == 0 or error.status >= 500
                found = self._outcome(route, request, timeout) if is_lost and can_ask and not repeatable else None
                if found is None:
                    raise
                return found

        return attempt

    def _outcome(self, route: Route, request: HttpRequest, timeout: float | None) -> Answer[Any] | None:
        """What became of a request whose answer was lost. None: the server does not have its answer or cannot be
        asked, and a repeat with the same Idempotency-Key decides.
        """
        headers = dict(request.headers)
        asked = {
            "idempotency_key": headers.pop("idempotency-key"),
            "operation": route.keyed,
            "path": urlsplit(request.url.removeprefix(self._settings.root_url)).path,
            "body_sha256": hashlib.sha256(request.body or b"").hexdigest(),
        }
        headers["content-type"] = "application/json"
        url = f"{self._settings.root_url}/v1/outcomes/lookup"
        try:
            answer = json_of(self._send(HttpRequest("POST", url, headers, json.dumps(asked).encode()), timeout))
        except AtriumError:
            return None
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, dict) or data.get("state") != "done":
            return None
        found = {"idempotency-status": "replayed", "idempotency-expires": str(data.get("expires_at"))}
        if "answer" not in data:
            return Answer(None, data["status"], found)
        found["content-type"] = "application/json; charset=utf-8"
        return _answer_of(HttpAnswer(data["status"], found, json.dumps(data["answer"]).encode()), route)

    def _page(
        self,
        route: Route,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Page[Any, Any]:
        """Without a query, the cursor belongs to the body."""
        answer = self._call(route, query=query, body=body, **options)

        def following(cursor: str) -> Page[Any, Any]:
            after = {"cursor": cursor}
            if query is None:
                return self._page(route, body={**(body or {}), **after}, **options)
            return self._page(route, query={**query, **after}, body=body, **options)

        return Page(data=answer.data, status=answer.status, headers=answer.headers, meta=answer.meta, _next=following)

    def _stream(
        self,
        route: Route,
        *,
        path: Mapping[str, str] | None = None,
        collection_token: str | None = None,
        last_event_id: str | None = None,
    ) -> EventStream:
        def connect(cursor: str | None) -> OpenAnswer:
            headers = {"accept": "text/event-stream", "last-event-id": cursor}
            request = self._request(route, path, None, headers, None, collection_token, None, None)
            return self._opened(request, "text/event-stream")

        return EventStream(connect, last_event_id)

    def _opened(self, request: HttpRequest, content_type: str) -> OpenAnswer:
        """Sends the request once. The caller reads the answer while it arrives, and closes it."""
        try:
            opened = self._http.open(request, timeout=self._settings.timeout, silence=_SILENCE_SECONDS)
        except http.client.InvalidURL as cause:
            raise ValueError(str(cause)) from cause
        except (OSError, http.client.HTTPException) as cause:
            raise no_answer(cause, request.url, self._settings.timeout) from cause
        if opened.status == 200 and opened.headers.get("content-type", "").startswith(content_type):
            return opened
        try:
            answer = HttpAnswer(opened.status, opened.headers, opened.body.read(1_000_000))
        except (OSError, http.client.HTTPException) as cause:
            raise no_answer(cause, request.url, _SILENCE_SECONDS) from cause
        finally:
            opened.close()
        raise error_of_answer(answer)

    def _request(
        self,
        route: Route,
        path: Mapping[str, str] | None,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str | None] | None,
        body: object,
        collection_token: str | None,
        control_token: str | None,
        idempotency_key: str | None,
    ) -> HttpRequest:
        settings = self._settings
        place = route.path
        for name, value in (path or {}).items():
            # A dot segment would be removed on the way, and the call would go to another path.
            if not isinstance(value, str) or value in ("", ".", ".."):
                raise ValueError(f"{route.method} {route.path} needs {name}, and got {value!r}")
            place = place.replace(f"{{{name}}}", quote(value, safe=""))
        given = {name: _query_text(value) for name, value in (query or {}).items() if value is not None}
        sent = {"accept": "application/json, */*;q=0.5", "user-agent": user_agent(VERSION)}
        sent.update({name: value for name, value in (headers or {}).items() if value is not None})
        if route.caller == "operator":
            sent["x-admin-token"] = _needed(settings.admin_token, "admin_token")
        elif route.caller == "control":
            sent["authorization"] = f"Bearer {_needed(control_token or settings.control_token, 'control_token')}"
        elif route.caller != "anyone":
            sent["authorization"] = f"Bearer {_needed(settings.key, 'key')}"
        if collection_token is not None:
            sent["x-collection-token"] = collection_token
        if idempotency_key is not None:
            sent["idempotency-key"] = idempotency_key
        for name, value in sent.items():
            # The message does not quote the value, which may be a secret.
            if not (value.isascii() and value.isprintable()):
                raise ValueError(f"The header {name} must be printable ASCII. Is there a placeholder in its value?")
        data = None
        if body is not None:
            sent["content-type"] = "application/json"
            data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        search = f"?{urlencode(given)}" if given else ""
        return HttpRequest(route.method, f"{settings.root_url}{place}{search}", sent, data)

    def _send(self, request: HttpRequest, timeout: float | None) -> HttpAnswer:
        limit = self._settings.timeout if timeout is None else timeout
        try:
            answer = self._http.send(request, timeout=limit)
        except (OSError, http.client.HTTPException) as cause:
            raise no_answer(cause, request.url, limit) from cause
        if 200 <= answer.status < 300 or answer.status == 304:
            return answer
        raise error_of_answer(answer)


def no_answer(cause: Exception, url: str, limit: float) -> Exception:
    """The error where no answer came. It names the origin alone: paths may hold what others should not read."""
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    how = f"did not answer within {limit:g} s" if isinstance(cause, TimeoutError) else f"could not be reached: {cause}"
    message = f"{origin} {how}"
    return make_error(message, status=0, code="network_error")


def _needed(credential: str | None, name: str) -> str:
    if not credential:
        raise ValueError(f"This call needs a credential: make Atrium({name}=…), or set ATRIUM_{name.upper()}")
    return credential


def _query_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _answer_of(answer: HttpAnswer, route: Route) -> Answer[Any]:
    if not answer.body:
        return Answer(None, answer.status, answer.headers)
    content_type = answer.headers.get("content-type", "")
    # A stream of JSON values, one a line, is for the caller to read.
    is_lines = content_type.startswith("application/x-ndjson")
    # Without `raw`, anything but JSON is the page of a proxy.
    if route.raw and (is_lines or "json" not in content_type):
        is_text = is_lines or content_type.startswith("text/")
        return Answer(answer.body.decode() if is_text else answer.body, answer.status, answer.headers)
    body = json_of(answer)
    if route.raw:
        return Answer(body, answer.status, answer.headers)
    if not isinstance(body, dict) or "data" not in body:
        message = f"The server answered {answer.status} with JSON that is not the API's: is the base URL right?"
        raise make_error(message, status=answer.status, code="unexpected_answer")
    return Answer(body["data"], answer.status, answer.headers, body.get("meta") or {})
