"""What a stream may look like on the wire, from a server that does what a test says."""

from __future__ import annotations

import os
import socket
import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from unittest.mock import patch

from atrium import Atrium
from atrium._http import OpenAnswer
from atrium.errors import NotFoundError, UnexpectedAnswerError
from atrium.streams import EventStream
from scripted_server import Script, ScriptedServer, error_answer, json_answer


def stream_answer(*pieces: str) -> Script:
    """Sends the pieces one by one, and ends the connection."""

    def script(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece.encode())
            handler.wfile.flush()
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    return script


class Streams(unittest.TestCase):
    def setUp(self) -> None:
        # The pauses between connections are tested with those between calls.
        pauses = patch("atrium.streams.delay_seconds", return_value=0.0)
        pauses.start()
        self.addCleanup(pauses.stop)

    def read(self, server: ScriptedServer, until: Callable[[str], bool]) -> list[tuple[str, str, object]]:
        seen = []
        with Atrium(server.url).stream_wall("col_1") as stream:
            for message in stream:
                seen.append((message.id, message.event, message.data))
                if until(message.event):
                    break
        return seen

    def test_comments_and_cursors_bring_no_message_and_a_message_that_is_cut_off_comes_again(self) -> None:
        first = stream_answer(
            ":\n\n: hello\nid: 1\n\n",
            "id: 2\r\nevent: item\r\ndata: {\"text\"",
            ": \"日本\"}\r\n\r\n",
            ":\nid: 3\n\n",
            "id: 4\nevent: item\ndata: {}\n",
        )
        second = stream_answer("id:4\nevent:item\ndata:{}\n\nid: 5\nevent: reset\ndata: {}\n\n")
        with ScriptedServer([first, second]) as server:
            seen = self.read(server, lambda event: event == "reset")
        self.assertEqual(seen, [("2", "item", {"text": "日本"}), ("4", "item", {}), ("5", "reset", {})])
        cursors = [received.headers.get("last-event-id") for received in server.received]
        self.assertEqual(cursors, [None, "3"])

    def test_an_outage_is_waited_for_and_what_cannot_succeed_is_raised(self) -> None:
        done = stream_answer("id: 1\nevent: ready\ndata: {}\n\n")
        with ScriptedServer([error_answer(503, "unavailable"), error_answer(429, "rate_limited"), done]) as server:
            self.assertEqual(len(self.read(server, lambda _: True)), 1)
        with ScriptedServer([done, error_answer(404, "not_found")]) as server, self.assertRaises(NotFoundError):
            self.read(server, lambda event: event == "never")
        with ScriptedServer([json_answer({"data": {}})]) as server, self.assertRaises(UnexpectedAnswerError):
            self.read(server, lambda _: True)

    def test_a_request_that_cannot_be_sent_is_an_error_of_the_stream(self) -> None:
        with ScriptedServer([stream_answer()]) as server, ThreadPoolExecutor(1) as pool, patch.dict("os.environ"):
            os.environ.pop("ATRIUM_KEY", None)
            calls: dict[str, Callable[[], EventStream]] = {
                "needs a credential": lambda: Atrium(server.url).stream_events(),
                "printable ASCII": lambda: Atrium(server.url, key="wsk_…").stream_events(),
                "needs id": lambda: Atrium(server.url, key="wsk_key").stream_collection(""),
                "can't contain control characters": lambda: Atrium(f"{server.url}/ x", key="wsk_key").stream_events(),
            }
            for message, call in calls.items():
                with self.subTest(message), call() as stream:
                    error = pool.submit(next, stream).exception(10)
                    self.assertIsInstance(error, ValueError)
                    self.assertIn(message, str(error))
            self.assertEqual(server.received, [])
        for port in ["abc", "99999", "0"]:
            with self.subTest(port), self.assertRaises(ValueError):
                Atrium(f"http://localhost:{port}", key="wsk_key")

    def test_a_message_without_an_end_is_refused(self) -> None:
        with ScriptedServer([stream_answer("data: ", *["x" * 500_000] * 5)]) as server:
            with self.assertRaisesRegex(UnexpectedAnswerError, "too long"):
                self.read(server, lambda _: True)

    def test_another_thread_closes_a_stream_that_is_read(self) -> None:
        closed = threading.Event()

        def quiet(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.send_header("transfer-encoding", "chunked")
            handler.end_headers()
            message = b"id: 1\nevent: ready\ndata: {}\n\n"
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(message), message))
            closed.wait(10)

        def late(handler: BaseHTTPRequestHandler) -> None:
            time.sleep(0.3)
            quiet(handler)

        for script, delay in ((quiet, 0.2), (late, 0.1)):
            with self.subTest(delay=delay), ScriptedServer([script]) as server, ThreadPoolExecutor(1) as pool:
                stream = Atrium(server.url).stream_wall("col_1")
                read = pool.submit(lambda: [message.event for message in stream])
                time.sleep(delay)
                stream.close()
                self.assertEqual(read.result(2), ["ready"] if script is quiet else [])
                closed.set()
                closed.clear()

    def test_a_stream_that_nobody_reads_is_closed_at_once(self) -> None:
        with ScriptedServer([stream_answer("id: 1\nevent: ready\ndata: {}\n\n")]) as server:
            stream = Atrium(server.url).stream_wall("col_1")
            next(iter(stream))
            stream.close()
            self.assertEqual(list(stream), [])

    def test_a_message_that_is_asked_for_while_another_thread_closes_is_the_end(self) -> None:
        closing, read = threading.Event(), threading.Event()
        close = OpenAnswer.close

        def slow_close(answer: OpenAnswer) -> None:
            closing.set()
            read.wait(10)
            close(answer)

        with ScriptedServer([stream_answer("id: 1\nevent: ready\ndata: {}\n\n")]) as server, ThreadPoolExecutor(1) as pool:
            stream = Atrium(server.url).stream_wall("col_1")
            messages = iter(stream)
            next(messages)
            with patch.object(OpenAnswer, "close", slow_close):
                closed = pool.submit(stream.close)
                self.assertTrue(closing.wait(10))
                try:
                    self.assertEqual(list(messages), [])
                finally:
                    read.set()
                    closed.result(10)

    def test_threads_share_a_client(self) -> None:
        with ScriptedServer([json_answer({"data": {"name": "Test"}})]) as server, Atrium(server.url, key="wsk_key") as atrium:
            with ThreadPoolExecutor(8) as pool:
                names = list(pool.map(lambda _: atrium.get_tenant().data["name"], range(80)))
            connections = {received.connection for received in server.received}
        self.assertEqual(names, ["Test"] * 80)
        self.assertLessEqual(len(connections), 16)


if __name__ == "__main__":
    unittest.main()
