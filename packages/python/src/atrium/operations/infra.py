"""Operations: Infra."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer


class InfraOperations(Core):
    """Infra: see /docs of your installation for the guides."""

    def get_turn_credentials(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetTurnCredentialsData]:
        """Ephemeral relay credentials.

        In the format of RTCPeerConnection. They allocate relays for an hour; an allocated relay continues after
        that. coturn's REST scheme: the username is `expiry:tenant`, the credential its HMAC-SHA1, in base64, under
        the secret shared with the relay. 503 `unavailable` if no relay is configured.

        Needs: A publishable or a secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The relays and their credentials.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.get_turn_credentials()
        """
        return self._call(
            Route("GET", "/v1/turn", "publishable"),
            repeatable=repeatable,
            timeout=timeout,
        )
