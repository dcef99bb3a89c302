"""Operations: Provider keys."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer


class ProviderKeysOperations(Core):
    """Provider keys: see /docs of your installation for the guides."""

    def set_provider_keys(
        self,
        *,
        body: types.SetProviderKeysBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ProviderKeys]:
        """Set your own provider keys.

        Sets the keys that are sent, removes those that are null, and leaves the others unchanged. Keys are sealed
        at rest, bound to the tenant and the provider, and never returned: answers contain only a hint.
        openai_compatible is any other service with the protocol of OpenAI's chat completions and images, at its own
        base URL.

        Needs: A secret key.

        Args:
            body: The request: openai (optional), anthropic (optional), google (optional), openai_compatible
                (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The providers that have a key.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.set_provider_keys(body={"openai": "sk-…9xQ2", "google": None})
        """
        return self._call(
            Route("PUT", "/v1/tenant/provider-keys", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_provider_keys(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ProviderKeys]:
        """List provider keys.

        Hints and times, never the keys.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The providers that have a key.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_provider_keys()
        """
        return self._call(
            Route("GET", "/v1/tenant/provider-keys", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )
