"""Blind tokens: the vectors of RFC 9474, a key of the test's own, and a running server that redeems them."""

from __future__ import annotations

import json
import os
import unittest
from typing import cast
from unittest.mock import patch

from atrium import Atrium, PreparedToken, epoch_of, finish_token, prepare_token
from atrium._base64url import decode_base64url, encode_base64url
from atrium.errors import AlreadySpentError
from atrium.types import RsaPublicJwk

ISSUER = json.loads(os.environ["ISSUER_KEY"])
PUBLIC: RsaPublicJwk = {"kty": "RSA", "n": ISSUER["n"], "e": ISSUER["e"]}


def number(text: str) -> int:
    return int.from_bytes(decode_base64url(text), "big")


def sign(blinded: str) -> str:
    """What the issuer does (RFC 9474, 4.3). Its time depends on the key: in a test alone."""
    n, d = number(ISSUER["n"]), number(ISSUER["d"])
    return encode_base64url(pow(number(blinded), d, n).to_bytes(len(decode_base64url(ISSUER["n"])), "big"))


class Vectors(unittest.TestCase):
    def test_from_the_same_random_numbers_comes_the_token_of_the_rfc(self) -> None:
        vector = {name: value.removeprefix("0x") for name, value in json.loads(os.environ["RFC9474_VECTOR"]).items()}
        data = {name: bytes.fromhex(value) for name, value in vector.items() if name not in ("name", "is_randomized", "sLen")}
        text = {name: encode_base64url(value) for name, value in data.items()}
        factor = pow(int.from_bytes(data["inv"], "big"), -1, int.from_bytes(data["n"], "big"))
        public: RsaPublicJwk = {"kty": "RSA", "n": text["n"], "e": text["e"]}
        with (
            patch("secrets.token_bytes", side_effect=[data["msg_prefix"], data["salt"]]),
            patch("secrets.randbelow", return_value=factor - 1),
        ):
            prepared = prepare_token(public, data["msg"])
        self.assertEqual(prepared["token"], text["input_msg"])
        self.assertEqual(prepared["blinded"], text["blinded_msg"])
        self.assertEqual(prepared["inverse"], text["inv"])
        finished = finish_token(prepared, text["blind_sig"])
        self.assertEqual(finished, {"token": text["input_msg"], "sig": text["sig"], "epoch": epoch_of(public)})


class BlindTokens(unittest.TestCase):
    def test_no_two_tokens_are_alike_and_the_issuer_sees_no_part_of_one(self) -> None:
        one, other = prepare_token(PUBLIC), prepare_token(PUBLIC)
        self.assertEqual(len(decode_base64url(one["token"])), 32)
        for part in ("token", "blinded", "inverse"):
            self.assertNotEqual(one[part], other[part])
        finished = finish_token(one, sign(one["blinded"]))
        self.assertNotIn(finished["sig"], (one["blinded"], sign(one["blinded"])))

    def test_a_wrong_signature_is_refused_and_the_right_one_still_makes_the_token(self) -> None:
        prepared = cast(PreparedToken, json.loads(json.dumps(prepare_token(PUBLIC, b"one lantern"))))
        right = sign(prepared["blinded"])
        zero = encode_base64url(bytes(len(decode_base64url(right))))
        wrong = [sign(prepare_token(PUBLIC)["blinded"]), prepared["blinded"], zero, "", right[:-4], right + "=", right[:-1] + "*"]
        for signature in wrong:
            with self.subTest(signature[:8]), self.assertRaises(ValueError):
                finish_token(prepared, signature)
        self.assertEqual(decode_base64url(finish_token(prepared, right)["token"])[32:], b"one lantern")

    def test_only_keys_and_messages_that_the_api_accepts(self) -> None:
        n = decode_base64url(PUBLIC["n"])
        moduli = [encode_base64url(value) for value in (b"\0" + n, n[:-1] + b"\0", n[:128], n + n + n, b"")] + [PUBLIC["n"] + "="]
        exponents = ["AAEAAQ", "AQ", "BA", "Ax", ""]
        keys = [{**PUBLIC, "n": modulus} for modulus in moduli] + [{**PUBLIC, "e": exponent} for exponent in exponents]
        for key in [*keys, {**PUBLIC, "kty": "EC"}]:
            with self.subTest(key["e"]), self.assertRaises(ValueError):
                prepare_token(cast(RsaPublicJwk, key))
        with self.assertRaises(ValueError):
            prepare_token(PUBLIC, bytes(1_019))
        self.assertEqual(len(prepare_token(PUBLIC, bytes(1_018))["token"]), 1_400)

    def test_a_token_is_redeemed_once(self) -> None:
        with Atrium() as atrium:
            prepared = prepare_token(atrium.get_epoch(epoch_of(PUBLIC)).data["public_key"])
            token = finish_token(prepared, sign(prepared["blinded"]))
            self.assertEqual(atrium.redeem_wallet(body=token).data["balance"], 10)
            with self.assertRaises(AlreadySpentError):
                atrium.redeem_wallet(body=token)
