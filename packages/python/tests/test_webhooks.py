"""Webhooks that the official package of Standard Webhooks signed, and their forgeries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
import unittest

from atrium import WebhookVerificationError, sign_webhook, verify_webhook

SECRET = f"whsec_{base64.b64encode(b'a secret of the webhook').decode()}"
OTHER = f"whsec_{base64.b64encode(b'another secret entirely').decode()}"
BODY = json.dumps({"id": "evt_1", "type": "collection.deleted", "data": {"collection_id": "col_ünïcode 日本"}}).encode()


class Webhooks(unittest.TestCase):
    def doubt(self, body: bytes | str, headers: dict[str, str], secret: str | list[str] = SECRET) -> str:
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(body, headers, secret)
        return caught.exception.reason

    def test_what_the_official_package_signs_is_accepted_and_what_it_refuses_is_refused(self) -> None:
        for vector in json.loads(os.environ["WEBHOOK_VECTORS"]):
            with self.subTest(vector["name"]):
                given = (vector["payload"], vector["headers"], vector["secrets"])
                if vector["reason"] is None:
                    self.assertEqual(verify_webhook(*given)["id"], vector["id"])
                else:
                    self.assertEqual(self.doubt(given[0].encode(), given[1], given[2]), vector["reason"])

    def test_a_signature_of_pythons_hmac_is_accepted(self) -> None:
        now = str(int(time.time()))
        mac = hmac.digest(b"a secret of the webhook", f"evt_1.{now}.".encode() + BODY, hashlib.sha256)
        headers = {
            "Webhook-Id": "evt_1",
            "WEBHOOK-TIMESTAMP": now,
            "webhook-signature": f"v1a,bm8= v1,{base64.b64encode(mac).decode()} x",
        }
        self.assertEqual(verify_webhook(BODY, headers, [OTHER, SECRET])["type"], "collection.deleted")
        self.assertEqual(verify_webhook(BODY.decode(), headers, SECRET)["id"], "evt_1")

    def test_every_doubt_has_its_reason(self) -> None:
        headers = sign_webhook(BODY, SECRET, id="evt_1")
        self.assertEqual(self.doubt(BODY + b" ", headers), "bad_signature")
        self.assertEqual(self.doubt(BODY, headers, OTHER), "bad_signature")
        self.assertEqual(self.doubt(BODY, headers, []), "bad_signature")
        self.assertEqual(self.doubt(BODY, {**headers, "webhook-id": "evt_2"}), "bad_signature")
        self.assertEqual(self.doubt(BODY, {**headers, "webhook-signature": "v1,"}), "bad_signature")
        for forged in ("\udcff", "\ud800"):
            self.assertEqual(self.doubt(BODY, {**headers, "webhook-id": forged}), "bad_signature")
            self.assertEqual(self.doubt(BODY.decode() + forged, headers), "bad_signature")
        self.assertEqual(self.doubt(BODY, {}), "missing_header")
        self.assertEqual(self.doubt(BODY, {**headers, "webhook-timestamp": "²"}), "bad_timestamp")
        self.assertEqual(self.doubt(BODY, sign_webhook(BODY, SECRET, id="e", at=time.time() - 310)), "too_old")
        self.assertEqual(self.doubt(BODY, sign_webhook(BODY, SECRET, id="e", at=time.time() + 310)), "too_new")
        self.assertEqual(self.doubt(b"\xff", sign_webhook(b"\xff", SECRET, id="e")), "not_json")
        for wrong in ("whsec_", "", "whsec_!"):
            with self.assertRaises(ValueError):
                verify_webhook(BODY, headers, wrong)


if __name__ == "__main__":
    unittest.main()
