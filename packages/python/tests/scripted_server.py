"""A server that answers what a test says, one answer after the other, and a relay whose connections a test can cut."""

from __future__ import annotations

import json
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Script = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int


@dataclass
class ScriptedServer:
    """Answers each request with the next script; the last one answers all that follow."""

    scripts: list[Script]
    received: list[Received] = field(default_factory=list)
    reads_bodies: bool = True
    """False: the script answers while the body arrives, and the connection is closed with the rest of it unread."""
    certificate: str | None = None
    """A file with a key and its certificate: the server speaks TLS."""

    def __enter__(self) -> ScriptedServer:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (ConnectionError, ValueError):
                    self.close_connection = True

            def answer(self) -> None:
                body = b""
                if scripted.reads_bodies:
                    body = self.rfile.read(int(self.headers.get("content-length") or 0))
                else:
                    self.close_connection = True
                headers = {name.lower(): value for name, value in self.headers.items()}
                at = len(scripted.received)
                scripted.received.append(Received(self.command, self.path, headers, body, self.client_address[1]))
                scripted.scripts[min(at, len(scripted.scripts) - 1)](self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"{'https' if self.certificate else 'http'}://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def json_answer(body: object, status: int = 200, **headers: str) -> Script:
    """The body as JSON. The names of headers have - for _."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        data = json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return script


def error_answer(status: int, code: str, **headers: str) -> Script:
    """An error in the API's envelope."""
    return json_answer({"error": {"code": code, "message": f"This is {code}", "request_id": "req_1"}}, status, **headers)


def then_end(script: Script) -> Script:
    """The script, and the end of what the server sends. The client can read it before the connection is closed."""

    def ending(handler: BaseHTTPRequestHandler) -> None:
        script(handler)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_WR)
        time.sleep(0.3)

    return ending


def lines_answer(text: str, length: int) -> Script:
    """The text as JSON lines. The connection breaks after ``length`` of its characters."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "application/x-ndjson; charset=utf-8")
        handler.send_header("content-length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text[:length].encode())
        handler.wfile.flush()
        if length < len(text):
            no_answer(handler)

    return script


def no_answer(handler: BaseHTTPRequestHandler) -> None:
    """The connection ends without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_answer(handler: BaseHTTPRequestHandler) -> None:
    """The connection ends in the middle of the body."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"data')
    no_answer(handler)


def reset_answer(status: int) -> Script:
    """The connection is reset in the middle of the body."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", "100")
        handler.end_headers()
        handler.wfile.write(b'{"error')
        handler.wfile.flush()
        handler.close_connection = True
        # Without lingering, closing sends a reset. The server would end the connection in an orderly way first.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(handler.connection.detach())

    return script


class Relay:
    """Forwards TCP connections to a server; ``cut`` breaks those that are open."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        while self._open:
            _shut(self._open.pop())

    def close(self) -> None:
        _shut(self._listener)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            self.connections += 1
            self._open += [near, far]
            threading.Thread(target=_copy, args=(near, far), daemon=True).start()
            threading.Thread(target=_copy, args=(far, near), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass
    _shut(source)
    _shut(target)


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
