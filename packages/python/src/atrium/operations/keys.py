"""Operations: Keys."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer


class KeysOperations(Core):
    """Keys: see /docs of your installation for the guides."""

    def list_keys(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.Key]]:
        """List keys.

        All keys of the tenant, oldest first, including revoked ones. `last_used_at` is accurate to about ten
        seconds.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The keys.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_keys()
        """
        return self._call(
            Route("GET", "/v1/tenant/keys", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_key(
        self,
        *,
        body: types.KeyCreate,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.KeyCreated]:
        """Create or rotate a key.

        The key is returned only in this answer.

        With `rotates`, the named key of the same kind stays valid for `overlap_seconds` (default 0: it expires at
        once), so that a new key can be rolled out without a gap. Rotation never extends the life of the old key.

        A key may rotate itself: then send an Idempotency-Key of at least 20 random characters. If no response
        arrives, the same request with the expired key returns the stored answer for 10 minutes.

        Needs: A secret key.

        Args:
            body: The request: kind, name (optional), expires_at (optional), rotates (optional), overlap_seconds
                (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The key.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_key(body={"kind": "secret", "name": "ci"})
        """
        return self._call(
            Route("POST", "/v1/tenant/keys", "secret", keyed="createKey"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def revoke_key(
        self,
        key_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Revoke a key.

        Takes effect in every process normally within a second, and never later than 15 seconds. Revoking a revoked
        key is a no-op. The last active secret key cannot be revoked: 409 `last_secret_key`.

        Needs: A secret key.

        Args:
            key_id: The id (key_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Revoked.

        Raises:
            AtriumError: NotFoundError, LastSecretKeyError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.revoke_key("key_…")
        """
        return self._call(
            Route("DELETE", "/v1/tenant/keys/{keyId}", "secret"),
            path={"keyId": key_id},
            repeatable=repeatable,
            timeout=timeout,
        )
