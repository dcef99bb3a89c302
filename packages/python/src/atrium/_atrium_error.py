"""The error that every failed call raises. ``errors`` has a class for each code."""

from __future__ import annotations

from typing import Any


class AtriumError(Exception):
    """A call that failed. Each code has its own class in ``atrium.errors``, such as ``InsufficientCreditError``.

    A code that this version of the client does not have is a plain ``AtriumError``.
    """

    status: int
    """The HTTP status; 0 without an answer."""
    code: str
    """The code, for programs, such as ``state_conflict``. Further codes may be added."""
    message: str
    """For people. The wording may change."""
    doc_url: str | None
    """The page that explains the code, if the server named one."""
    request_id: str | None
    """Id of the request in the server's log."""
    reason: str | None
    """The check that failed, for ``not_authorized`` and for errors of the Space endpoint."""
    details: list[dict[str, Any]]
    """The problems of the request, one for each place: ``{"path": …, "message": …}``. Empty if the server named none."""
    retry_after: float | None
    """Seconds to wait before a retry (Retry-After, RFC 9110)."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        doc_url: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
        details: list[dict[str, Any]] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.doc_url = doc_url
        self.request_id = request_id
        self.reason = reason
        self.details = details or []
        self.retry_after = retry_after

    def __str__(self) -> str:
        """The message, then everything that helps to find the cause."""
        details = [f"{detail.get('path') or '(body)'}: {detail.get('message')}" for detail in self.details]
        # The message of an invalid request is often its first detail.
        parts = [self.message, *(f"  {detail}" for detail in details if detail != self.message)]
        facts = [f"code {self.code}", f"status {self.status}"]
        if self.reason:
            facts.append(f"reason {self.reason}")
        if self.request_id:
            facts.append(f"request {self.request_id}")
        parts.append(f"({', '.join(facts)})")
        if self.doc_url:
            parts.append(self.doc_url)
        return "\n".join(parts) if details or self.doc_url else " ".join(parts)
