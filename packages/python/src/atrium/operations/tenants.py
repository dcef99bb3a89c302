"""Operations: Tenants."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer


class TenantsOperations(Core):
    """Tenants: see /docs of your installation for the guides."""

    def sign_up_tenant(
        self,
        *,
        body: types.SignUpTenantBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.TenantCreated]:
        """Sign up with an invite.

        Creates a tenant and its first two keys, which are returned only in this answer. An invite that was used up,
        has expired or never existed is 403 `invite_invalid` in all three cases. The new tenant has an empty list of
        roles, which means both.

        Needs: No key.

        Args:
            body: The request: invite_code, name, email.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The tenant and its keys.

        Raises:
            AtriumError: InviteInvalidError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.sign_up_tenant(body={
                "invite_code": "inv_…",
                "name": "Harbour Wall",
                "email": "ada@harbour.example",
            })
        """
        return self._call(
            Route("POST", "/v1/tenants/signup", "anyone", keyed=True),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_tenant(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Tenant]:
        """Read your tenant.

        The tenant that the secret key belongs to.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tenant.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError.

        Example:
            answer = atrium.get_tenant()
        """
        return self._call(
            Route("GET", "/v1/tenant", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )
