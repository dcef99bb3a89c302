"""Retries, time limits, errors and connections, against a server that does what a test says."""

from __future__ import annotations

import hashlib
import json
import os
import time
import unittest
from http.server import BaseHTTPRequestHandler
from typing import Any
from unittest.mock import patch

from atrium import Atrium, AtriumError
from atrium.errors import (
    IdempotencyInProgressError,
    InvalidRequestError,
    NetworkError,
    PayloadTooLargeError,
    RateLimitedError,
    UnavailableError,
    UnexpectedAnswerError,
)
from scripted_server import ScriptedServer, error_answer, json_answer, lines_answer, no_answer, reset_answer, then_end

ITEM = {"type": "message", "content": "Hello"}
DONE = json_answer({"data": {"id": "itm_1"}}, 201)


class Calls(unittest.TestCase):
    def client(self, server: ScriptedServer, **options: float) -> Atrium:
        self.pauses: list[float] = []
        atrium = Atrium(server.url, key="wsk_key", sleep=self.pauses.append, **options)  # type: ignore[arg-type]
        self.addCleanup(atrium.close)
        return atrium

    def test_a_keyed_post_is_repeated_with_the_same_key_and_bytes(self) -> None:
        with ScriptedServer([no_answer, error_answer(503, "unavailable"), DONE]) as server:
            atrium = self.client(server)
            self.assertEqual(atrium.add_item("col_1", body=ITEM).data["id"], "itm_1")  # type: ignore[arg-type]
            atrium.add_item("col_1", body=ITEM)  # type: ignore[arg-type]
        first, second, third, other = server.received
        keys = [received.headers["idempotency-key"] for received in server.received]
        self.assertEqual(len(set(keys[:3])), 1)
        self.assertNotEqual(keys[0], keys[3])
        self.assertEqual(first.body, third.body)
        self.assertEqual(second.headers["authorization"], "Bearer wsk_key")
        self.assertEqual(len(self.pauses), 2)

    def test_the_refusal_of_a_body_that_was_not_read_is_the_error(self) -> None:
        large: Any = {**ITEM, "content": "x" * 8_000_000}
        with ScriptedServer([error_answer(413, "payload_too_large")], reads_bodies=False) as server:
            with self.assertRaises(PayloadTooLargeError):
                self.client(server).add_item("col_1", body=large)
            self.assertEqual(len(server.received), 1)
        with ScriptedServer([no_answer], reads_bodies=False) as server, self.assertRaises(NetworkError):
            self.client(server, retries=0).add_item("col_1", body=large)

    def test_over_tls_too_the_refusal_of_a_body_that_was_not_read_is_the_error(self) -> None:
        large: Any = {**ITEM, "content": "x" * 8_000_000}
        certificate = os.environ["TLS_CERTIFICATE"]
        refusal = then_end(error_answer(413, "payload_too_large"))
        with ScriptedServer([refusal], reads_bodies=False, certificate=certificate) as server:
            with patch.dict("os.environ", {"SSL_CERT_FILE": certificate}), self.assertRaises(PayloadTooLargeError):
                self.client(server).add_item("col_1", body=large)
            self.assertEqual(len(server.received), 1)

    def test_an_export_whose_refusal_was_cut_is_asked_for_again(self) -> None:
        with ScriptedServer([reset_answer(503)]) as server:
            items = self.client(server).iterate_export("col_1", collection_token="cat_1")
            with self.assertRaises(NetworkError):
                next(items)
        self.assertEqual(len(server.received), 3)

    def test_an_export_that_was_cut_is_an_error_after_its_items(self) -> None:
        whole = '{"format":"atrium.items"}\n{"id":"itm_1"}\n{"id":"itm_2"}\n  {"end":true,"items":2}\n'
        lengths = {len(whole): ["itm_1", "itm_2", "end"], len(whole) - 1: ["itm_1", "itm_2"], 45: ["itm_1"]}
        for length, expected in lengths.items():
            with ScriptedServer([error_answer(503, "unavailable"), lines_answer(whole, length)]) as server:
                seen = []
                try:
                    for item in self.client(server).iterate_export("col_1", collection_token="cat_1"):
                        seen.append(item["id"])
                    seen.append("end")
                except NetworkError as error:
                    self.assertEqual(error.message, "The export ended before its last line")
            self.assertEqual((seen, len(self.pauses)), (expected, 1))

    def test_a_list_that_is_asked_for_with_a_body_has_its_cursor_there(self) -> None:
        pages = [json_answer({"data": [{"id": "rct_1"}], "meta": {"next_cursor": "c"}}), json_answer({"data": [{"id": "rct_2"}]})]
        with ScriptedServer(pages) as server:
            receipts = self.client(server).look_up_receipts(body={"wallet_code": "wlt_1", "limit": 1})
            self.assertEqual([receipt["id"] for receipt in receipts.iterate()], ["rct_1", "rct_2"])
        bodies = [json.loads(received.body) for received in server.received]
        self.assertEqual(bodies[1], {**bodies[0], "cursor": "c"})
        self.assertEqual(server.received[1].path, "/v1/receipts/lookup")

    def test_before_it_repeats_a_call_that_bills_it_asks_for_the_outcome(self) -> None:
        session = {"id": "ses_1", "status": "launching"}
        outcome = {"state": "done", "status": 201, "answer": {"data": session}, "expires_at": "2026-11-24T09:30:00.000Z"}
        launch: Any = {"agent_id": "agt_1", "code": "crp_1", "minutes": 5, "room": {"id": "r"}}
        with ScriptedServer([no_answer, json_answer({"data": outcome})]) as server:
            answer = self.client(server).launch_session(body=launch, idempotency_key="launch-1")
        self.assertEqual((answer.status, answer.data, answer.is_replayed), (201, session, True))
        first, second = server.received
        self.assertEqual([first.path, second.path], ["/v1/sessions", "/v1/outcomes/lookup"])
        asked = {
            "idempotency_key": "launch-1",
            "operation": "launchSession",
            "path": "/v1/sessions",
            "body_sha256": hashlib.sha256(first.body).hexdigest(),
        }
        self.assertEqual(json.loads(second.body), asked)
        self.assertEqual(second.headers["authorization"], "Bearer wsk_key")
        self.assertNotIn("idempotency-key", second.headers)
        unknown = [json_answer({"data": {"state": state}}) for state in ("none", "in_progress")]
        for script in (*unknown, error_answer(404, "not_found"), json_answer("a proxy"), no_answer):
            with ScriptedServer([no_answer, script, json_answer({"data": session}, 201)]) as server:
                self.client(server).launch_session(body=launch)
            paths = [received.path for received in server.received]
            self.assertEqual(paths, ["/v1/sessions", "/v1/outcomes/lookup", "/v1/sessions"])
            self.assertEqual(server.received[0].body, server.received[2].body)

    def test_a_call_that_must_not_be_repeated_is_asked_for(self) -> None:
        outcome = {"state": "done", "status": 201, "answer": {"data": {"id": "itm_1"}}, "expires_at": "2026-11-24T09:30:00.000Z"}
        with ScriptedServer([no_answer, json_answer({"data": outcome})]) as server:
            answer = self.client(server).add_item("col_1", body=ITEM, repeatable=False)  # type: ignore[arg-type]
            self.assertEqual(answer.data["id"], "itm_1")
        with ScriptedServer([no_answer, json_answer({"data": {"state": "none"}})]) as server:
            with self.assertRaises(NetworkError):
                self.client(server).add_item("col_1", body=ITEM, repeatable=False)  # type: ignore[arg-type]
            self.assertEqual(len(server.received), 2)

    def test_a_call_with_an_effect_and_no_key_is_repeated_only_after_429(self) -> None:
        for script in (no_answer, error_answer(503, "unavailable"), error_answer(408, "request_timeout")):
            with ScriptedServer([script]) as server:
                with self.assertRaises(AtriumError):
                    self.client(server).set_collection_state("col_1", body={"state": "ready"}, collection_token="cat_1")
                self.assertEqual(len(server.received), 1)
        with ScriptedServer([error_answer(429, "rate_limited", retry_after="2"), json_answer({"data": {"ok": True}})]) as server:
            self.client(server).set_collection_state("col_1", body={"state": "ready"}, collection_token="cat_1")
            self.assertGreaterEqual(self.pauses[0], 2)
        with ScriptedServer([error_answer(503, "unavailable"), json_answer({"data": {"ok": True}})]) as server:
            atrium = self.client(server)
            atrium.set_collection_state("col_1", body={"state": "ready"}, collection_token="cat_1", repeatable=True)

    def test_a_delete_is_not_repeated(self) -> None:
        with ScriptedServer([no_answer]) as server:
            with self.assertRaises(NetworkError):
                self.client(server).delete_collection("col_1", collection_token="cat_1")
            self.assertEqual(len(server.received), 1)

    def test_retries_end_and_the_last_error_is_raised(self) -> None:
        with ScriptedServer([error_answer(503, "unavailable")]) as server:
            with self.assertRaises(UnavailableError) as caught:
                self.client(server).get_tenant()
            self.assertEqual(caught.exception.request_id, "req_1")
            self.assertEqual(len(server.received), 3)

    def test_what_is_in_progress_is_awaited(self) -> None:
        script = error_answer(409, "idempotency_in_progress", retry_after="1")
        with ScriptedServer([script, DONE]) as server:
            self.client(server).add_item("col_1", body=ITEM)  # type: ignore[arg-type]
        with ScriptedServer([script]) as server, self.assertRaises(IdempotencyInProgressError):
            self.client(server, retries=0).add_item("col_1", body=ITEM)  # type: ignore[arg-type]

    def test_a_long_retry_after_is_left_to_the_caller(self) -> None:
        with ScriptedServer([error_answer(429, "rate_limited", retry_after="3600")]) as server:
            with self.assertRaises(RateLimitedError) as caught:
                self.client(server).get_tenant()
        self.assertEqual((caught.exception.retry_after, self.pauses), (3600, []))

    def test_a_retry_after_with_a_fraction_is_kept(self) -> None:
        with ScriptedServer([error_answer(429, "rate_limited", retry_after="3.5"), json_answer({"data": {}})]) as server:
            self.client(server).get_tenant()
        self.assertGreaterEqual(self.pauses[0], 3.5)

    def test_other_errors_are_not_repeated_and_say_everything(self) -> None:
        error = {
            "code": "invalid_request",
            "message": "The request is not valid",
            "request_id": "req_2",
            "doc_url": "http://localhost/docs/errors/invalid_request",
            "details": [{"path": "/metadata/titel", "message": "is unknown"}],
        }
        with ScriptedServer([json_answer({"error": error}, 400)]) as server:
            with self.assertRaises(InvalidRequestError) as caught:
                self.client(server).create_collection(body={})
            self.assertEqual(len(server.received), 1)
        self.assertEqual(caught.exception.details[0]["path"], "/metadata/titel")
        self.assertEqual(caught.exception.doc_url, error["doc_url"])
        for part in ("not valid", "/metadata/titel: is unknown", "req_2", "docs/errors"):
            self.assertIn(part, str(caught.exception))

    def test_the_only_problem_of_a_request_is_said_once(self) -> None:
        details = [{"path": "/type", "message": "is wrong"}, {"path": "/author", "message": "is long"}]
        error = {"code": "invalid_request", "message": "/type: is wrong", "details": details}
        with ScriptedServer([json_answer({"error": error}, 400)]) as server, self.assertRaises(InvalidRequestError) as caught:
            self.client(server).create_collection(body={})
        said = str(caught.exception)
        self.assertEqual([said.count(part) for part in ("/type: is wrong", "/author: is long")], [1, 1])

    def test_codes_that_are_not_known_and_answers_that_are_not_the_apis(self) -> None:
        with ScriptedServer([error_answer(418, "a_new_code")]) as server:
            with self.assertRaises(AtriumError) as caught:
                self.client(server).get_tenant()
            self.assertEqual((type(caught.exception), caught.exception.code), (AtriumError, "a_new_code"))
        for status in (301, 404, 500):
            with ScriptedServer([json_answer("a proxy", status, location="http://127.0.0.1:1/")]) as server:
                with self.assertRaises(UnexpectedAnswerError) as unexpected:
                    self.client(server).get_tenant()
                self.assertEqual((unexpected.exception.status, len(server.received)), (status, 1))

    def test_a_page_of_a_proxy_in_place_of_the_answer_is_unexpected(self) -> None:
        def page(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("content-type", "text/html")
            handler.send_header("content-length", "6")
            handler.end_headers()
            handler.wfile.write(b"<html>")

        with ScriptedServer([page]) as server:
            with self.assertRaisesRegex(UnexpectedAnswerError, "text/html in place of JSON: is the base URL right"):
                self.client(server).get_tenant()
            self.assertEqual(self.client(server).render_collection("col_1").data, "<html>")

    def test_json_in_another_form_is_unexpected(self) -> None:
        bodies: list[object] = [None, [], "a proxy", {}, {"status": "ok"}]
        for body in bodies:
            with ScriptedServer([json_answer(body)]) as server:
                with self.assertRaisesRegex(UnexpectedAnswerError, "is the base URL right"):
                    self.client(server).get_tenant()
                self.assertEqual(len(server.received), 1)

    def test_the_time_limit_is_that_of_the_whole_answer(self) -> None:
        def drip(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            for _ in range(40):
                handler.wfile.write(b" ")
                time.sleep(0.05)

        with ScriptedServer([drip]) as server:
            started = time.monotonic()
            with self.assertRaises(NetworkError) as caught:
                self.client(server, retries=0).get_tenant(timeout=0.3)
            self.assertLess(time.monotonic() - started, 1.5)
        self.assertIn(f"{server.url} did not answer within 0.3 s", str(caught.exception))

    def test_a_call_may_have_any_time(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server:
            for timeout in (float("inf"), 1e10):
                self.client(server, timeout=timeout).get_tenant()

    def test_connections_are_kept_and_a_closed_one_is_not_used(self) -> None:
        def last(handler: BaseHTTPRequestHandler) -> None:
            json_answer({"data": {}})(handler)
            handler.close_connection = True

        with ScriptedServer([json_answer({"data": {}}), last, json_answer({"data": {}})]) as server:
            atrium = self.client(server, retries=0)
            atrium.get_tenant()
            atrium.get_tenant()
            time.sleep(0.1)
            atrium.set_collection_state("col_1", body={"state": "ready"}, collection_token="cat_1")
            connections = [received.connection for received in server.received]
        self.assertEqual(connections[0], connections[1])
        self.assertNotEqual(connections[1], connections[2])

    @unittest.skipUnless(hasattr(os, "fork"), "no processes fork here")
    def test_a_forked_process_has_connections_of_its_own(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server:
            atrium = self.client(server, retries=0)
            atrium.get_tenant()
            child = os.fork()
            if child == 0:
                try:
                    atrium.get_tenant()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            atrium.get_tenant()
        first, forked, again = (received.connection for received in server.received)
        self.assertNotEqual(first, forked)
        self.assertEqual(first, again)

    def test_the_settings_come_from_the_environment(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server:
            with patch.dict("os.environ", {"ATRIUM_URL": f"{server.url}/v1/", "ATRIUM_KEY": "wsk_of_the_environment"}):
                Atrium().get_tenant()
        self.assertEqual(server.received[0].path, "/v1/tenant")
        self.assertEqual(server.received[0].headers["authorization"], "Bearer wsk_of_the_environment")
        with patch.dict("os.environ", clear=True), self.assertRaisesRegex(ValueError, "ATRIUM_URL"):
            Atrium()
        for wrong in ("localhost:8787", "ftp://localhost", "http://a:b@localhost", "/v1"):
            with self.assertRaises(ValueError):
                Atrium(wrong)
        with self.assertRaises(ValueError) as caught:
            Atrium("http://ada:hunter2@localhost")
        self.assertNotIn("hunter2", str(caught.exception))

    def test_the_line_break_after_a_key_that_was_read_from_a_file_is_not_sent(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server:
            Atrium(server.url, key="wsk_key\n").get_tenant()
        self.assertEqual(server.received[0].headers["authorization"], "Bearer wsk_key")

    def test_an_empty_value_is_not_replaced_by_another(self) -> None:
        with ScriptedServer([DONE]) as server:
            with patch.dict("os.environ", {"ATRIUM_URL": server.url, "ATRIUM_KEY": "wsk_of_the_environment"}):
                with self.assertRaisesRegex(ValueError, "needs a credential"):
                    Atrium(key="").get_tenant()
                with self.assertRaises(ValueError):
                    Atrium("")
            # Each attempt of a caller whose own key is empty would have had another one.
            self.client(server).add_item("col_1", body=ITEM, idempotency_key="")  # type: ignore[arg-type]
        self.assertEqual([received.headers["idempotency-key"] for received in server.received], [""])

    def test_a_credential_that_is_missing_or_a_placeholder_is_named_and_not_sent(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server, patch.dict("os.environ", clear=True):
            for call, said in (
                (lambda: Atrium(server.url).get_tenant(), "ATRIUM_KEY"),
                (lambda: Atrium(server.url).get_session("ses_1"), "ATRIUM_CONTROL_TOKEN"),
                (lambda: Atrium(server.url).audit_books(), "ATRIUM_ADMIN_TOKEN"),
                (lambda: Atrium(server.url, key="wsk_…").get_tenant(), "authorization must be printable ASCII"),
            ):
                with self.assertRaisesRegex(ValueError, said) as caught:
                    call()
                self.assertNotIn("wsk_", str(caught.exception))
            Atrium(server.url).list_epochs()
        self.assertEqual([received.path for received in server.received], ["/v1/epochs"])

    def test_requests_through_a_proxy(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as proxy:
            with patch.dict("os.environ", {"http_proxy": proxy.url.replace("//", "//ada:pw@"), "no_proxy": ""}):
                Atrium("http://api.example", key="wsk_key").get_tenant()
        self.assertEqual(proxy.received[0].path, "http://api.example/v1/tenant")
        self.assertEqual(proxy.received[0].headers["host"], "api.example")
        self.assertTrue(proxy.received[0].headers["proxy-authorization"].startswith("Basic "))

    def test_what_goes_into_the_address_stays_one_segment(self) -> None:
        with ScriptedServer([json_answer({"data": {}})]) as server:
            atrium = self.client(server)
            atrium.get_collection("a/b?c#d")
            atrium.list_items("col_1", collection_token="cat_1", approved=True, q="a&b=c", from_="2026-11-20T09:30:00.000Z")
            for wrong in ("", ".", ".."):
                with self.assertRaises(ValueError):
                    atrium.get_collection(wrong)
        self.assertEqual(server.received[0].path, "/v1/collections/a%2Fb%3Fc%23d")
        self.assertIn("approved=true&", server.received[1].path)
        self.assertIn("from=2026-11-20T09%3A30%3A00.000Z&q=a%26b%3Dc", server.received[1].path)

    def test_the_body_is_json_in_utf_8(self) -> None:
        with ScriptedServer([DONE]) as server:
            self.client(server).add_item("col_1", body={"type": "message", "content": {"text": "日本 🎉"}})
        self.assertEqual(json.loads(server.received[0].body)["content"]["text"], "日本 🎉")

    def test_a_body_that_is_optional_is_not_sent(self) -> None:
        with ScriptedServer([DONE]) as server:
            self.client(server).test_webhook()
        self.assertEqual(server.received[0].body, b"")
        self.assertNotIn("content-type", server.received[0].headers)


if __name__ == "__main__":
    unittest.main()
