"""Exports of items, read while they arrive."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import cast

from ._error_of_answer import make_error
from ._http import OpenAnswer
from .streams import MAX_MESSAGE_BYTES
from .types import Item


def items_of(answer: OpenAnswer) -> Iterator[Item]:
    """The items of an export. Raises ``NetworkError`` if it ends before its last line, and closes the answer."""
    items = 0
    try:
        # A line that was cut off has no line break.
        while (line := answer.body.readline(MAX_MESSAGE_BYTES + 1)).endswith(b"\n"):
            value = json.loads(line)
            if "end" in value:
                if value["items"] == items:
                    return
                break
            if "format" not in value:
                items += 1
                yield cast("Item", value)
    except (OSError, http.client.HTTPException):
        pass  # The connection broke, or was silent for too long.
    finally:
        answer.close()
    raise make_error("The export ended before its last line", status=0, code="network_error")
