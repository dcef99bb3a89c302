"""The version of all packages."""

# Written by scripts/python-client.ts out of packages/contract.

VERSION = "0.1.0"
