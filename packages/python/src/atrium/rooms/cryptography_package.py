"""The package ``cryptography``, which is loaded when it is needed: everything else works without it."""

from __future__ import annotations


class MissingCryptographyError(ImportError):
    """The package ``cryptography`` is not installed."""

    def __init__(self) -> None:
        super().__init__("Device keys and histories need cryptography: pip install cryptography, or apt install python3-cryptography")
