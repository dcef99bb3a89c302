"""Rooms of a running Space service: turns, following, proofs, and the history opened here."""

from __future__ import annotations

import base64
import hashlib
import http.client
import itertools
import json
import os
import secrets
import threading
import unittest
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

from atrium import DeviceKey, Room, RoomSecret, new_room_secret
from atrium.errors import NetworkError, NotAuthorizedError, NotFoundError, UnexpectedAnswerError
from atrium.rooms import DamagedHistoryError, RewrittenHistoryError, WrongKeyError, open_history, parse_room_link
from atrium.rooms.lines import BrokenChainError, check_chain, line_hash
from atrium.types import SpaceSealedAnswer
from scripted_server import ScriptedServer, cut_answer, error_answer, json_answer, no_answer

SPACE = os.environ.get("SPACE_URL", "")
PAGE = {"etag": "e", "count": 1, "entries": [], "policy": "open"}


def sign_in(email: str, nonce: str) -> str:
    """An ID token of the development sign-in (authorization code with PKCE), which believes any address."""
    origin = os.environ["SPACES_ORIGIN"]
    with urlopen(f"{origin}/space-config") as answer:
        provider = json.load(answer)["identity"]
    verifier = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    client = {"client_id": provider["client_id"], "redirect_uri": f"{origin}/space"}
    asked = {
        **client,
        "response_type": "code",
        "scope": "openid email profile",
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    parts = urlsplit(provider["issuer"])
    connection = http.client.HTTPConnection(parts.netloc)
    form = {"content-type": "application/x-www-form-urlencoded"}
    connection.request("POST", f"{parts.path}/authorize?{urlencode(asked)}", urlencode({"email": email}), form)
    place = connection.getresponse().headers["location"]
    connection.close()
    grant = {**client, "grant_type": "authorization_code", "code": parse_qs(urlsplit(place).query)["code"][0], "code_verifier": verifier}
    with urlopen(f"{provider['issuer']}/token", urlencode(grant).encode()) as answer:
        return str(json.load(answer)["id_token"])


class Rooms(unittest.TestCase):
    def setUp(self) -> None:
        self.room = Room(SPACE, new_room_secret())

    def test_a_turn_is_read_answered_and_followed(self) -> None:
        asked = self.room.say("Are the lamps lit? 🎉")
        self.room.say("All of them.", reply_to=asked["id"], client_id="mine")
        self.room.say("All of them.", reply_to=asked["id"], client_id="mine")
        page = self.room.poll()
        self.assertEqual([entry["message"]["text"] for entry in page["entries"]], ["Are the lamps lit? 🎉", "All of them."])
        followed = list(itertools.islice(self.room.follow(), 2))
        self.assertEqual(followed[1]["message"]["reply_to"], asked["id"])
        self.assertEqual(next(self.room.follow(after=followed[0]["seq"]))["seq"], followed[1]["seq"])

    def test_a_new_message_arrives_while_it_is_waited_for(self) -> None:
        threading.Timer(0.3, self.room.say, ["Here I am"]).start()
        self.assertEqual(next(self.room.follow(wait_for_room=True))["message"]["text"], "Here I am")

    def test_a_room_is_opened_by_its_link(self) -> None:
        self.room.say("Hello")
        link = f"{os.environ['SPACES_ORIGIN']}/space{self.room.secret.fragment}"
        same = Room.from_link(link)
        self.assertEqual(same.poll()["entries"][0]["message"]["text"], "Hello")
        self.assertNotIn(self.room.secret.mk, repr(self.room.secret))
        for wrong in ("nonsense", link.replace("http", "ftp", 1), link.split("#")[0], link.replace(".", " ", 9), f"{link[:-40]}"):
            with self.assertRaises(ValueError) as caught:
                parse_room_link(wrong)
            self.assertNotIn(self.room.secret.mk, str(caught.exception))

    def test_whoever_has_another_key_or_room_is_refused(self) -> None:
        self.room.say("Hello")
        with self.assertRaises(NotAuthorizedError) as caught:
            Room(SPACE, RoomSecret(self.room.secret.room, new_room_secret().mk)).poll()
        self.assertEqual(caught.exception.reason, "bad_room_key")
        with self.assertRaises(NotFoundError):
            next(Room(SPACE, new_room_secret()).follow())


class Lists(unittest.TestCase):
    """Rooms with a list. Needs the package cryptography."""

    def enter(self, secret: RoomSecret, email: str) -> Room:
        device = DeviceKey.generate()
        token = sign_in(email, device.thumbprint)
        return Room(SPACE, secret, identity=lambda: device.identity(token))

    def test_only_who_is_on_the_list_enters(self) -> None:
        secret = new_room_secret()
        owner = self.enter(secret, "ada@example.com")
        owner.create(allow=["grace@example.com"], title="Laterne 日本", require_proof=True)
        grace, eve = self.enter(secret, "grace@example.com"), self.enter(secret, "eve@example.com")
        grace.say("Hello")
        for refused, reason in ((eve, "not_on_list"), (Room(SPACE, secret), "unsigned")):
            with self.assertRaises(NotAuthorizedError) as caught:
                refused.poll()
            self.assertEqual(caught.exception.reason, reason)
        owner.admit(emails=["eve@example.com"])
        self.assertEqual(eve.poll()["entries"][0]["author"]["email"], "grace@example.com")
        owner.expel(emails=["eve@example.com"])
        with self.assertRaises(NotAuthorizedError) as caught:
            eve.say("Still here")
        self.assertEqual(caught.exception.reason, "revoked")
        history = grace.history()
        self.assertEqual([record["t"] for record in history.records], ["policy", "turn", "policy", "policy"])
        self.assertEqual(history.policy["owner"], {"email": "ada@example.com"})
        with self.assertRaises(NotAuthorizedError):
            grace.remove()
        owner.remove()
        with self.assertRaises(NotFoundError):
            grace.poll()

    def test_the_token_of_another_device_is_refused(self) -> None:
        secret = new_room_secret()
        self.enter(secret, "ada@example.com").create()
        device, other = DeviceKey.generate(), DeviceKey.generate()
        thief = Room(SPACE, secret, identity=device.identity(sign_in("ada@example.com", other.thumbprint)))
        with self.assertRaises(NotAuthorizedError) as caught:
            thief.poll()
        self.assertEqual(caught.exception.reason, "nonce_mismatch")


class Stubbed(unittest.TestCase):
    def room(self, server: ScriptedServer) -> Room:
        return Room(server.url, new_room_secret(), sleep=lambda _: None)

    def test_a_turn_is_repeated_with_the_same_client_id(self) -> None:
        with ScriptedServer([no_answer, error_answer(503, "unavailable"), json_answer({"ok": True})]) as server:
            self.room(server).say("Hello")
        ids = {json.loads(received.body)["message"]["client_id"] for received in server.received}
        self.assertEqual((len(server.received), len(ids)), (3, 1))

    def test_an_answer_that_was_cut_is_asked_for_again_and_another_form_is_unexpected(self) -> None:
        with ScriptedServer([cut_answer, json_answer(PAGE)]) as server:
            self.assertEqual(self.room(server).poll(), PAGE)
        bodies: list[object] = [None, [], "a proxy"]
        for body in bodies:
            with ScriptedServer([json_answer(body)]) as server, self.assertRaises(UnexpectedAnswerError):
                self.room(server).poll()

    def test_a_room_is_not_created_or_removed_again_after_a_lost_answer(self) -> None:
        for op, code, status in (("create", "room_exists", 409), ("remove", "not_found", 404)):
            with ScriptedServer([cut_answer, error_answer(status, code)]) as server, self.assertRaises(NetworkError):
                getattr(self.room(server), op)()
            self.assertEqual(len(server.received), 1)
            with ScriptedServer([error_answer(429, "rate_limited"), json_answer({"ok": True})]) as server:
                self.assertEqual(getattr(self.room(server), op)(), {"ok": True})

    def test_following_survives_an_outage_and_tells_a_rewritten_history(self) -> None:
        entry = {"seq": 0, "message": {"text": "Hello"}}
        shorter = {**PAGE, "count": 0}
        with ScriptedServer([no_answer, *[error_answer(502, "x")] * 5, json_answer({**PAGE, "entries": [entry]}), json_answer(shorter)]) as server:
            entries = self.room(server).follow()
            self.assertEqual(next(entries)["message"]["text"], "Hello")
            with self.assertRaises(RewrittenHistoryError):
                next(entries)

    def test_what_is_sealed_is_asked_for_without_the_key(self) -> None:
        with ScriptedServer([json_answer({"sealed": ""})]) as server:
            self.room(server).sealed()
        self.assertEqual(set(json.loads(server.received[0].body)), {"op", "room"})


class Chains(unittest.TestCase):
    """What needs no key."""

    def line(self, seq: int, prev: str | None) -> str:
        header = {"enc": "A256GCM", "seq": seq, **({} if prev is None else {"prev": prev})}
        protected = base64.urlsafe_b64encode(json.dumps(header, separators=(",", ":")).encode()).decode().rstrip("=")
        recipient = {"header": {"alg": "A256KW", "kid": "room"}, "encrypted_key": "A" * 54}
        parts = {"protected": protected, "recipients": [recipient], "iv": "A" * 16, "ciphertext": "A" * 40, "tag": "A" * 22}
        return json.dumps(parts, separators=(",", ":"))

    def test_every_line_stands_at_its_number_after_the_one_it_names(self) -> None:
        first = self.line(0, None)
        check_chain([first, self.line(1, line_hash(first))])
        for seq, prev, problem in ((2, line_hash(first), "seq"), (1, line_hash("x"), "prev"), (0, None, "seq"), (1, None, "form")):
            with self.subTest(problem), self.assertRaisesRegex(BrokenChainError, problem):
                check_chain([first, self.line(seq, prev)])


class Sealed(unittest.TestCase):
    """Needs the package cryptography."""

    def setUp(self) -> None:
        self.device = DeviceKey.generate()
        self.room = Room(SPACE, new_room_secret(), identity=self.device.identity())
        for text in ("One", "Two 日本", "Three"):
            self.room.say(text)

    def test_a_message_with_a_proof_is_marked_as_proven(self) -> None:
        author = self.room.poll()["entries"][0]["author"]
        self.assertEqual((author["proven"], author["key"]), (True, self.device.thumbprint))
        same = DeviceKey.from_pem(self.device.to_pem())
        self.assertEqual(same.thumbprint, self.device.thumbprint)

    def test_the_owner_of_a_room_changes_it_with_proofs(self) -> None:
        room = Room(SPACE, new_room_secret(), identity=self.device.identity())
        room.create("open", title="Laterne 日本", require_proof=True)
        self.assertEqual(room.poll()["title"], "Laterne 日本")
        with self.assertRaises(NotAuthorizedError):
            Room(SPACE, room.secret).say("Without a proof")
        room.remove()
        with self.assertRaises(NotFoundError):
            room.poll()

    def test_the_history_is_opened_and_complete(self) -> None:
        history = self.room.history()
        self.assertEqual([entry["message"]["text"] for entry in history.entries], ["One", "Two 日本", "Three"])
        self.assertEqual([record["t"] for record in history.records], ["policy", "turn", "turn", "turn"])
        self.assertEqual(history.policy["policy"], "open")
        self.assertEqual(history.etag, self.room.poll()["etag"])

    def test_another_key_opens_nothing(self) -> None:
        with self.assertRaises(WrongKeyError):
            open_history(RoomSecret(self.room.secret.room, new_room_secret().mk), self.room.sealed())

    def test_lines_that_are_missing_moved_or_altered_are_found(self) -> None:
        answer = self.room.sealed()
        lines = answer["sealed"].split("\n")
        etag = self.room.poll()["etag"]
        other = Room(SPACE, new_room_secret())
        other.say("Of another room")
        foreign = other.sealed()["sealed"].split("\n")[1]
        tag = json.loads(lines[2])["tag"]
        flipped = base64.urlsafe_b64encode(bytes([base64.urlsafe_b64decode(tag + "==")[0] ^ 1]) + base64.urlsafe_b64decode(tag + "==")[1:])
        altered = lines[2].replace(tag, flipped.decode().rstrip("="))
        damaged = {
            "without its end": (lines[:-1], etag, 2),
            "without a line": ([*lines[:1], *lines[2:]], None, 1),
            "moved": ([lines[0], lines[2], lines[1], lines[3]], None, 1),
            "of another room": ([lines[0], foreign, *lines[2:]], None, 1),
            "altered": ([*lines[:2], altered, lines[3]], None, 3),
            "another spelling": ([lines[0], lines[1] + " ", *lines[2:]], None, 1),
            "a second recipient": ([lines[0].replace("}],", "},{}],"), *lines[1:]], None, 0),
            "no lines": ([], None, 0),
            "line ends": ([""] * 500, None, None),
        }
        for name, (wrong, end, seq) in damaged.items():
            with self.subTest(name):
                sealed = "\n".join(wrong)
                shown = {**answer, "sealed": sealed, "sha256": hashlib.sha256(sealed.encode()).hexdigest()}
                with self.assertRaises(DamagedHistoryError) as caught:
                    open_history(self.room.secret, cast(SpaceSealedAnswer, shown), end)
                self.assertEqual(caught.exception.seq, seq)
        with self.assertRaisesRegex(DamagedHistoryError, "hash"):
            open_history(self.room.secret, {**answer, "sealed": answer["sealed"] + " "})


if __name__ == "__main__":
    unittest.main()
