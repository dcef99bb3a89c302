"""Operations: Usage."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer


class UsageOperations(Core):
    """Usage: see /docs of your installation for the guides."""

    def get_usage(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["day", "month"] | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.UsageRow]]:
        """Read the usage.

        One row per period and meter: oldest period first, then meters in the order of the enum. Rows of zero are
        omitted.

        Days are UTC; `from` and `to` are both included, at most 366 days apart, and not before 2000. Default: the
        last 30 days, up to today or up to `to`.

        - `requests`: answered calls with a key of this tenant, including errors.
        - `items`: items added.
        - `bytes`: the bodies of those calls and of their answers, without headers, and the media of this tenant
        that were served to anyone.
        - `paints`: paintings, counted when the picture is ready.
        - `launches`: started sessions.
        - `credits`: captures and fees, from the ledger and therefore always exact.

        `items`, `paints` and `launches` are stored together with what they count, so they are always exact.
        `requests` and `bytes` are counted in memory and stored once a minute: those of the last minute may be
        missing, and are lost if the server is killed (during a database outage: all since it began). Nothing is
        counted twice.

        Needs: A secret key.

        Args:
            from_: str.
            to: str.
            by: Default: "day".
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The rows.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_usage()
        """
        return self._call(
            Route("GET", "/v1/usage", "secret"),
            query={"from": from_, "to": to, "by": by},
            repeatable=repeatable,
            timeout=timeout,
        )
