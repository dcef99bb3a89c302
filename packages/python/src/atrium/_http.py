"""One HTTP request with a time limit for all of it, over connections that are kept open between calls."""

from __future__ import annotations

import http.client
import io
import os
import select
import socket
import ssl
import sys
import threading
import time
import urllib.request
import weakref
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any
from urllib.parse import unquote, urlsplit

_MAX_IDLE_SECONDS = 4.0
"""Shorter than servers keep an idle connection (Node: 5 seconds), so that a request rarely meets one that is closing."""
_MAX_IDLE_CONNECTIONS = 8
_PIECE_BYTES = 65_536
_LONGEST_SECONDS = 86_400.0
"""A socket does not take infinity, or more than some 10^9 seconds."""


class TooLargeError(Exception):
    """The body of the answer has more bytes than the caller accepts."""


@dataclass(frozen=True)
class HttpRequest:
    """A request, built once so that each attempt sends the same bytes."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True)
class HttpAnswer:
    """A response with its whole body. The names of the headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class OpenAnswer:
    """A response whose body is read while it arrives."""

    status: int
    headers: Mapping[str, str]
    body: http.client.HTTPResponse
    _connection: http.client.HTTPConnection
    _socket: socket.socket

    def end(self) -> None:
        """Ends the connection, for another thread: the one that reads sees its end, and closes it."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended already.

    def close(self) -> None:
        """Ends and closes the connection."""
        self.end()
        self._connection.close()


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        seconds = self._at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return min(seconds, _LONGEST_SECONDS)


class _TimedReader(io.RawIOBase):
    """Reads from the socket for as long as the deadline allows: a server that sends a byte a second meets it too."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedSocket:
    """What ``http.client`` needs of a socket to read a response from it."""

    def __init__(self, sock: socket.socket, deadline: _Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._deadline), _PIECE_BYTES)


_Idle = tuple[tuple[str, str], http.client.HTTPConnection, float]
"""Scheme and host, the connection, and since when it is idle."""


class Http:
    """Sends requests. Threads may share it: each request has a connection of its own while it lasts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []
        self._tls = ssl.create_default_context()
        _clients.add(self)
        # Also at the end of the program, and for a client that nobody closes.
        weakref.finalize(self, _close_all, self._idle)

    def send(self, request: HttpRequest, *, timeout: float, max_bytes: int | None = None) -> HttpAnswer:
        """Sends the request once.

        ``timeout`` is the limit of connecting, sending and reading together, in seconds. Redirects are not followed:
        the API never redirects, and following one could send a token to another origin. Raises ``OSError``,
        ``http.client.HTTPException`` and ``TooLargeError``.
        """
        deadline = _Deadline(timeout)
        connection, response, _ = self._open(request, deadline)
        try:
            body = _read(response, max_bytes)
        except BaseException:
            connection.close()
            raise
        if response.will_close or not response.isclosed():
            connection.close()
        else:
            self._keep(request.url, connection)
        return HttpAnswer(response.status, _headers_of(response.headers), body)

    def open(self, request: HttpRequest, *, timeout: float, silence: float) -> OpenAnswer:
        """Sends the request, and gives the response to be read as it arrives. The caller closes it.

        ``timeout`` is the limit until the headers have arrived, ``silence`` that between two pieces of the body.
        """
        connection, response, sock = self._open(request, _Deadline(timeout), is_stream=True)
        sock.settimeout(silence)
        return OpenAnswer(response.status, _headers_of(response.headers), response, connection, sock)

    def close(self) -> None:
        """Closes the connections that are kept open. A later call opens a new one."""
        with self._lock:
            _close_all(self._idle)

    def _open(
        self, request: HttpRequest, deadline: _Deadline, is_stream: bool = False
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse, socket.socket]:
        parts = urlsplit(request.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = self._connect((parts.scheme, parts.netloc), deadline)
        try:
            if getattr(connection, "sends_whole_url", False):
                target = request.url
            unsent: OSError | None = None
            try:
                connection.request(request.method, target, body=request.body, headers=dict(request.headers))
            except (BrokenPipeError, ConnectionAbortedError, ConnectionResetError, ssl.SSLEOFError) as error:
                # The server may have answered before it closed the connection, as it does to a body that is too large.
                # Over TLS, the error is SSLEOFError.
                unsent = error
            sock = connection.sock
            assert sock is not None
            timed: Any = sock if is_stream else _TimedSocket(sock, deadline)
            sock.settimeout(deadline.left())
            # What HTTPConnection.getresponse does, with a reader that knows the deadline.
            connection.response_class = lambda _, **options: http.client.HTTPResponse(timed, **options)  # type: ignore[assignment]
            try:
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                if unsent is None:
                    raise
                raise unsent from None
            if unsent is not None:
                response.will_close = True
            return connection, response, sock
        except BaseException:
            connection.close()
            raise

    def _connect(self, origin: tuple[str, str], deadline: _Deadline) -> http.client.HTTPConnection:
        kept = self._take(origin)
        if kept is not None:
            assert kept.sock is not None
            kept.sock.settimeout(deadline.left())
            return kept
        connection = _new_connection(origin, self._tls, deadline.left())
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _take(self, origin: tuple[str, str]) -> http.client.HTTPConnection | None:
        while True:
            with self._lock:
                found = next((entry for entry in reversed(self._idle) if entry[0] == origin), None)
                if found is None:
                    return None
                self._idle.remove(found)
            _, connection, since = found
            if time.monotonic() - since < _MAX_IDLE_SECONDS and not _is_closing(connection):
                return connection
            connection.close()

    def _keep(self, url: str, connection: http.client.HTTPConnection) -> None:
        parts = urlsplit(url)
        with self._lock:
            self._idle.append(((parts.scheme, parts.netloc), connection, time.monotonic()))
            surplus = self._idle.pop(0) if len(self._idle) > _MAX_IDLE_CONNECTIONS else None
        if surplus is not None:
            surplus[1].close()


_clients: weakref.WeakSet[Http] = weakref.WeakSet()


def _part_from_parent() -> None:
    """Parent and child would read each other's answers from a shared connection. Another thread may hold the lock."""
    for client in list(_clients):
        client._lock = threading.Lock()
        _close_all(client._idle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_part_from_parent)


def _close_all(idle: list[_Idle]) -> None:
    while idle:
        idle.pop()[1].close()


def _is_closing(connection: http.client.HTTPConnection) -> bool:
    """An idle connection on which something arrives has been closed by the server."""
    if connection.sock is None:
        return True
    try:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(connection.sock, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([connection.sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _new_connection(origin: tuple[str, str], tls: ssl.SSLContext, timeout: float) -> http.client.HTTPConnection:
    """A connection to the origin, or to the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name for it."""
    scheme, netloc = origin
    is_https = scheme == "https"
    host = urlsplit(f"//{netloc}").hostname or ""
    proxy = None if urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(scheme)
    if not proxy:
        if is_https:
            return http.client.HTTPSConnection(netloc, timeout=timeout, context=tls)
        return http.client.HTTPConnection(netloc, timeout=timeout)
    at = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    place = f"{at.hostname}:{at.port or 80}"
    credentials = f"{unquote(at.username or '')}:{unquote(at.password or '')}" if at.username else None
    headers = {"Proxy-Authorization": f"Basic {b64encode(credentials.encode()).decode()}"} if credentials else {}
    if is_https:
        connection = http.client.HTTPSConnection(place, timeout=timeout, context=tls)
        connection.set_tunnel(netloc, headers=headers)
        return connection
    return _PlainProxyConnection(place, timeout=timeout, proxy_headers=headers)


class _PlainProxyConnection(http.client.HTTPConnection):
    """A proxy for http: the request line has the whole URL."""

    sends_whole_url = True

    def __init__(self, host: str, *, timeout: float, proxy_headers: Mapping[str, str]) -> None:
        super().__init__(host, timeout=timeout)
        self._proxy_headers = proxy_headers

    def endheaders(self, *args: Any, **options: Any) -> None:
        for name, value in self._proxy_headers.items():
            self.putheader(name, value)
        super().endheaders(*args, **options)


def _read(response: http.client.HTTPResponse, max_bytes: int | None) -> bytes:
    if max_bytes is None:
        return response.read()
    body = response.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise TooLargeError(f"more than {max_bytes} bytes")
    # With a limit, http.client does not report a body that was cut.
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return body


def _headers_of(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def user_agent(version: str) -> str:
    """The value of User-Agent."""
    return f"atrium-python/{version} (python {'.'.join(map(str, sys.version_info[:3]))})"
