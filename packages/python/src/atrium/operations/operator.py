"""Operations: Operator."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class OperatorOperations(Core):
    """Operator: see /docs of your installation for the guides."""

    def create_tenant(
        self,
        *,
        body: types.CreateTenantBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.TenantCreated]:
        """Create a tenant.

        Operator only. Creates a tenant and its first two keys, which are returned once.

        Needs: The operator's token.

        Args:
            body: The request: name, email (optional), roles (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The tenant and its keys.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_tenant(body={"name": "Harbour Wall", "roles": ["app"]})
        """
        return self._call(
            Route("POST", "/v1/tenants", "operator", keyed=True),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_tenants(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Tenant], types.Tenant]:
        """List the tenants.

        Operator only. All tenants, oldest first. Keys are never shown.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of tenants.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError.

        Example:
            answer = atrium.list_tenants()
        """
        return self._page(
            Route("GET", "/v1/tenants", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_tenant_status(
        self,
        tenant_id: str,
        *,
        body: types.SetTenantStatusBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Tenant]:
        """Suspend or reactivate a tenant.

        Operator only. Suspension disables every key of the tenant, in every process normally within a second and
        never later than 15 seconds.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: status.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tenant.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, PayloadTooLargeError.

        Example:
            answer = atrium.set_tenant_status("ten_…", body={"status": "suspended"})
        """
        return self._call(
            Route("POST", "/v1/tenants/{tenant_id}/status", "operator"),
            path={"tenant_id": tenant_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_invite(
        self,
        *,
        body: types.CreateInviteBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateInviteData]:
        """Create an invite.

        Operator only. The invite code is returned once. It signs up `uses` tenants (default 1) until it expires
        (default: never).

        Needs: The operator's token.

        Args:
            body: The request: uses (optional), expires_at (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The invite.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_invite(body={"uses": 1})
        """
        return self._call(
            Route("POST", "/v1/tenants/invites", "operator", keyed=True),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_tenant_limits(
        self,
        tenant_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetTenantLimitsData]:
        """Read the limits of a tenant.

        Operator only. The limits of its publishable keys, its quota of stored bytes, and how much of that is used.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The limits.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError.

        Example:
            answer = atrium.get_tenant_limits("ten_…")
        """
        return self._call(
            Route("GET", "/v1/tenants/{tenant_id}/limits", "operator"),
            path={"tenant_id": tenant_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_tenant_limits(
        self,
        tenant_id: str,
        *,
        body: types.SetTenantLimitsBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SetTenantLimitsData]:
        """Set the limits of a tenant.

        Operator only. Replaces the tenant's overrides; a limit that is not sent returns to the installation's
        default. Takes effect with the next request. A quota below the stored amount deletes nothing; it only
        rejects new uploads.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: paints_per_address (optional), paints_per_collection (optional), paints_per_day
                (optional), upload_bytes_per_address (optional), stored_bytes (optional), open_streams (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The limits.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.set_tenant_limits("ten_…", body={"paints_per_day": 500, "stored_bytes": 107374182400})
        """
        return self._call(
            Route("PUT", "/v1/tenants/{tenant_id}/limits", "operator"),
            path={"tenant_id": tenant_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_all_agents(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListAllAgentsDataEntry], types.ListAllAgentsDataEntry]:
        """List the agents of all tenants.

        Operator only. All agents, oldest first, whatever their status, without what only their owners see.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of agents.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError.

        Example:
            answer = atrium.list_all_agents()
        """
        return self._page(
            Route("GET", "/v1/operator/agents", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def moderate_agent(
        self,
        agent_id: str,
        *,
        body: types.ModerateAgentBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ModerateAgentData]:
        """Suspend an agent, or lift its suspension.

        Operator only. suspended, pending: the agent is not in the catalog and cannot be launched until an operator
        lifts this. Its owner cannot, and its sessions get no more ID tokens. suspended: all its sessions are also
        stopped and settled as after any stop; a repeat stops sessions that were being launched at that moment.
        lifted: restores the status that the owner set last; nothing changes where no hold is.

        Needs: The operator's token.

        Args:
            agent_id: The id (agt_…).
            body: The request: status.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The agent, without what only its owner sees.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.moderate_agent("agt_…", body={"status": "suspended"})
        """
        return self._call(
            Route("POST", "/v1/operator/agents/{agentId}/status", "operator"),
            path={"agentId": agent_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def audit_books(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.AuditBooksData]:
        """Audit the ledger.

        Reads every transfer in one snapshot and checks that debits equal credits, no balance is negative, each
        balance is the sum of its rows, the amount held is the sum of the open holds, and no hold or coupon is past
        its end. Empty `findings` mean that the ledger is consistent.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The report.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError.

        Example:
            answer = atrium.audit_books()
        """
        return self._call(
            Route("GET", "/v1/operator/audit", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def reseal_secrets(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ResealSecretsData]:
        """Reseal secrets under the new master key.

        Operator only. Reseals secrets that are sealed under another master key under the first one, for about half
        a minute per call. Repeat it until `resealed` is 0. `keys` lists what each key is still needed for: a key
        that is not the first can be removed when it has no `values` and `answers_until` is null or has passed.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The progress: what was resealed and what remains.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, PayloadTooLargeError.

        Example:
            answer = atrium.reseal_secrets()
        """
        return self._call(
            Route("POST", "/v1/operator/reseal", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )
