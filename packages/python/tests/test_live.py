"""Against a running server: lists, idempotency, errors, events, streams and webhooks."""

from __future__ import annotations

import json
import os
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from atrium import Atrium, StreamMessage, verify_webhook
from atrium.errors import (
    CollectionNotOpenError,
    IdempotencyKeyReusedError,
    InvalidCursorError,
    InvalidRequestError,
    NotFoundError,
    OwnerTokenRequiredError,
    StateConflictError,
    UnauthorizedError,
)
from scripted_server import Relay, ScriptedServer


class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.atrium = Atrium()
        self.addCleanup(self.atrium.close)
        made = self.atrium.create_collection(body={"item_access": "open", "wall": True}).data
        self.collection, self.token = made["id"], made["admin_token"]

    def say(self, text: str) -> str:
        return self.atrium.add_item(self.collection, body={"type": "message", "content": text}).data["id"]

    def test_a_list_is_read_page_by_page(self) -> None:
        ids = [self.say(str(n)) for n in range(7)]
        first = self.atrium.list_items(self.collection, collection_token=self.token, limit=3)
        self.assertEqual([item["id"] for item in first.entries], ids[:3])
        self.assertEqual([item["id"] for item in first.iterate()], ids)
        self.assertEqual([len(page.entries) for page in first.pages()], [3, 3, 1])
        visible = self.atrium.list_open_items(self.collection, limit=2, order="oldest")
        self.assertEqual([item["content"] for item in visible.iterate()], [str(n) for n in range(7)])

    def test_a_repeat_with_the_same_key_has_the_first_answer(self) -> None:
        first = self.atrium.add_item(self.collection, body={"type": "message", "content": 1}, idempotency_key="once")
        again = self.atrium.add_item(self.collection, body={"type": "message", "content": 1}, idempotency_key="once")
        self.assertEqual((first.data, first.is_replayed), (again.data, False))
        self.assertTrue(again.is_replayed)
        with self.assertRaises(IdempotencyKeyReusedError):
            self.atrium.add_item(self.collection, body={"type": "message", "content": 2}, idempotency_key="once")

    def test_errors_have_their_class(self) -> None:
        self.atrium.set_collection_state(self.collection, body={"state": "closed"}, collection_token=self.token)
        with self.assertRaises(StateConflictError) as caught:
            self.atrium.set_collection_state(self.collection, body={"state": "open"}, collection_token=self.token)
        self.assertEqual((caught.exception.status, caught.exception.code), (409, "state_conflict"))
        self.assertRegex(caught.exception.request_id or "", "^req_")
        with self.assertRaises(CollectionNotOpenError):
            self.say("too late")
        with self.assertRaises(NotFoundError):
            self.atrium.get_collection("col_4fRzK0vXcB1mQwErTy7uPa")
        with self.assertRaises(InvalidRequestError) as invalid:
            self.atrium.create_collection(body={"metdata": {}})  # type: ignore[typeddict-unknown-key]
        self.assertEqual(invalid.exception.details[0]["path"], "/metdata")
        with self.assertRaises(UnauthorizedError):
            Atrium(key="wsk_wrong").get_tenant()

    def test_events_are_read_to_the_end(self) -> None:
        before = max((event["sequence"] for event in self.atrium.iterate_events()), default=0)
        ids = [self.say(str(n)) for n in range(3)]
        found = [event["data"]["item_id"] for event in self.atrium.iterate_events(after=before) if event["type"] == "item.created"]
        self.assertEqual(found, ids)

    def test_pictures_and_pages_come_as_they_are(self) -> None:
        page = self.atrium.render_collection(self.collection)
        self.assertIn("<!doctype html>", page.data.lower())
        self.assertIsNone(self.atrium.delete_collection(self.collection, collection_token=self.token).data)

    def test_an_export_comes_as_lines(self) -> None:
        added = [self.say(text) for text in ("one", "two\u2028lines")]
        text = self.atrium.export_items(self.collection, collection_token=self.token).data
        head, *items, end = [json.loads(line) for line in text.rstrip("\n").split("\n")]
        self.assertEqual((head["format"], end), ("atrium.items", {"end": True, "items": 2}))
        self.assertEqual([item["id"] for item in items], added)

    def test_the_items_of_an_export_are_read_while_they_arrive(self) -> None:
        added = [self.say(text) for text in ("one", "two\u2028lines", "three")]
        items = self.atrium.iterate_export(self.collection, collection_token=self.token)
        self.assertEqual([item["id"] for item in items], added)
        found = self.atrium.iterate_export(self.collection, collection_token=self.token, q="thre", approved=True)
        self.assertEqual([item["content"] for item in found], ["three"])
        with self.assertRaises(OwnerTokenRequiredError):
            next(self.atrium.iterate_export(self.collection, collection_token="cat_wrong"))

    def test_a_stream_continues_after_each_break_without_a_gap_or_a_repeat(self) -> None:
        at = urlsplit(os.environ["ATRIUM_URL"])
        relay = Relay(at.hostname or "", at.port or 80)
        self.addCleanup(relay.close)
        reader = Atrium(f"http://127.0.0.1:{relay.port}", key=os.environ["ATRIUM_KEY"])
        seen: list[StreamMessage] = []
        wanted: list[str] = []
        with reader.stream_collection(self.collection) as stream:
            for message in stream:
                seen.append(message)
                if message.event == "ready" or len(seen) < 6:
                    relay.cut()
                    # One that is added while nobody is connected.
                    wanted.append(self.say(str(len(seen))))
                else:
                    break
        self.assertEqual([message.event for message in seen], ["ready", *["item"] * 5])
        self.assertEqual([message.data["id"] for message in seen[1:]], wanted[:5])
        self.assertGreaterEqual(relay.connections, 5)
        with reader.stream_collection(self.collection, last_event_id=seen[2].id) as again:
            self.assertEqual(next(iter(again)).data["id"], wanted[2])
        with self.assertRaises(InvalidCursorError), reader.stream_events(last_event_id="nonsense") as wrong:
            next(iter(wrong))

    def test_a_stream_is_closed_by_another_thread(self) -> None:
        stream = self.atrium.stream_wall(self.collection)
        seen: list[str] = []

        def read() -> None:
            seen.extend(message.event for message in stream)

        thread = threading.Thread(target=read)
        thread.start()
        while not seen and stream.last_event_id is None:
            time.sleep(0.01)
        stream.close()
        thread.join(5)
        self.assertFalse(thread.is_alive())
        self.assertEqual(seen, ["ready"])

    def test_a_webhook_that_the_server_sends_is_genuine(self) -> None:
        def accept(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(204)
            handler.end_headers()

        with ScriptedServer([accept]) as hook:
            secret = self.atrium.set_webhook(body={"url": hook.url, "rotate_secret": True}).data["secret"]
            tried = self.atrium.test_webhook(body={"type": "item.created"}).data
        self.assertTrue(tried["delivered"])
        event = verify_webhook(hook.received[0].body, hook.received[0].headers, secret)
        self.assertEqual(event["type"], "item.created")


if __name__ == "__main__":
    unittest.main()
