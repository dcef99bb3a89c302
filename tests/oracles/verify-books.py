"""Verifies the answer of GET /books/proof on standard input, with Python alone.

Prints one line for each account. Exits with 1 if a balance is not part of the total.
"""

import hashlib
import json
import sys


def in_64_bits(number):
    if not isinstance(number, int) or not 0 <= number < 2**53:
        sys.exit(f"{number} is no sum of balances")
    return number.to_bytes(8, "big")


def node(left, right):
    parts = [b"\x01", in_64_bits(left[0]), left[1], in_64_bits(right[0]), right[1]]
    return left[0] + right[0], hashlib.sha256(b"".join(parts)).digest()


data = json.load(sys.stdin)["data"]
books = data["books"]
for proof in data["proofs"]:
    leaf = b"\x00" + bytes.fromhex(proof["salt"]) + in_64_bits(proof["balance"]) + proof["account"].encode()
    at = (proof["balance"], hashlib.sha256(leaf).digest())
    for step in proof["path"]:
        beside = (step["sum"], bytes.fromhex(step["hash"]))
        at = node(beside, at) if step["side"] == "left" else node(at, beside)
    if at != (books["total"], bytes.fromhex(books["root"])):
        sys.exit(f"{proof['account']} is not part of the total")
    print(f"{proof['account']}: {proof['balance']} of {books['total']} credits")

members = {"type": "books", "day": books["day"], "accounts": books["accounts"], "total": books["total"], "root": books["root"]}
entry = json.dumps(members, separators=(",", ":"))
print("leaf hash", hashlib.sha256(b"\x00" + entry.encode()).hexdigest())
