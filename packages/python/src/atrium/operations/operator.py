"""Operations: Operator."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_tenant(body={"name": "Harbour Wall", "roles": ["app"]})
        """
        return self._call(
            Route("POST", "/v1/tenants", "operator", keyed="createTenant"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_tenants(
        self,
        *,
        q: str | None = None,
        status: Literal["active", "suspended"] | None = None,
        order: Literal["oldest", "newest"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListTenantsDataEntry], types.ListTenantsDataEntry]:
        """List the tenants.

        Operator only. All tenants, oldest first unless `order` says otherwise, with a deletion that is scheduled,
        running or done. Keys are never shown.

        Needs: The operator's token.

        Args:
            q: In the name or the e-mail address, in any case of letters, or the beginning of the id.
            status: Literal["active", "suspended"].
            order: Default: "oldest".
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of tenants.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_tenants()
        """
        return self._page(
            Route("GET", "/v1/tenants", "operator"),
            query={"q": q, "status": status, "order": order, "limit": limit, "cursor": cursor},
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
        never later than 15 seconds. Sessions that the tenant launched, and those of its agents, are stopped within
        seconds and charged as usual; its pending launches wait until it is active again. A tenant that is deleted,
        or about to be, keeps its status: 409 `state_conflict`.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: status.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tenant.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

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
        body: types.CreateInviteBody | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateInviteData]:
        """Create an invite.

        Operator only. The invite code is returned once. It signs up `uses` tenants (default 1) until it expires
        (default: never).

        Needs: The operator's token.

        Args:
            body: The request: uses (optional), expires_at (optional). Default: an empty one.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The invite.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_invite()
        """
        return self._call(
            Route("POST", "/v1/tenants/invites", "operator", keyed="createInvite"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_invites(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListInvitesDataEntry], types.ListInvitesDataEntry]:
        """List the invites.

        Operator only. All invites, newest first. Codes are never shown.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of invites.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_invites()
        """
        return self._page(
            Route("GET", "/v1/tenants/invites", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def revoke_invite(
        self,
        invite_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Revoke an invite.

        Operator only. The invite signs up nobody from now on. Revoking a revoked or used invite changes nothing.

        Needs: The operator's token.

        Args:
            invite_id: The id (ivt_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Revoked.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.revoke_invite("ivt_…")
        """
        return self._call(
            Route("DELETE", "/v1/tenants/invites/{inviteId}", "operator"),
            path={"inviteId": invite_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_tenant(
        self,
        tenant_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadTenantData]:
        """Read a tenant.

        Operator only. The tenant with its e-mail address and the number of its keys. `last_used_at` is the last use
        of any of its keys, accurate to ten seconds; null: none was ever used.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tenant.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_tenant("ten_…")
        """
        return self._call(
            Route("GET", "/v1/tenants/{tenant_id}", "operator"),
            path={"tenant_id": tenant_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def update_tenant(
        self,
        tenant_id: str,
        *,
        body: types.UpdateTenantBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.UpdateTenantData]:
        """Change name, e-mail address or roles of a tenant.

        Operator only. Fields that are absent stay. Roles take effect in every process normally within a second and
        never later than 15 seconds; an empty list means both. A tenant that is deleted, or about to be: 409
        `state_conflict`.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: name (optional), email (optional), roles (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tenant.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.update_tenant("ten_…", body={"roles": ["app"]})
        """
        return self._call(
            Route("PATCH", "/v1/tenants/{tenant_id}", "operator"),
            path={"tenant_id": tenant_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_tenant_usage(
        self,
        tenant_id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["day", "month"] | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.UsageRow]]:
        """Read the usage of a tenant.

        Operator only. The rows of `GET /usage` for any tenant.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            from_: str.
            to: str.
            by: Default: "day".
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The rows.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_tenant_usage("ten_…")
        """
        return self._call(
            Route("GET", "/v1/tenants/{tenant_id}/usage", "operator"),
            path={"tenant_id": tenant_id},
            query={"from": from_, "to": to, "by": by},
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

        Operator only. Every limit that differs between tenants, and how much of the quota of stored bytes is used.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The limits.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, NotFoundError.

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
        default. Takes effect with the next request; `rate_percent` in every process normally within a second and
        never later than 15 seconds. A limit below what exists deletes and stops nothing; it only rejects what is
        new.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: paints_per_address (optional), paints_per_collection (optional), paints_per_day
                (optional), upload_bytes_per_address (optional), stored_bytes (optional), open_streams (optional),
                paints_per_month (optional), active_sessions (optional), pending_launches (optional),
                active_generations (optional), open_uploads (optional), open_upload_bytes (optional),
                open_uploads_in_collection (optional), rate_percent (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The limits.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

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

    def export_tenant(
        self,
        tenant_id: str,
        *,
        blobs: bool | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[str]:
        """Export all data of a tenant.

        Operator only. Everything that the database has of the tenant, as `application/x-ndjson`. The first line is
        `{format, version, tenant_id, exported_at}`, then each line is a row, `{table, row}`, and the last line is
        `{end: true, rows, blobs}`. An export without that line was cut: start again. Lists of accounts that may
        read an item or artifact are opened (`access_list`). Keys, tokens, codes and other secrets are not exported,
        nor are rooms, which the operator cannot read. With `blobs`, the stored originals follow in pieces: `{blob:
        {key, bytes, offset, base64}}`. Pages are read one after the other, so changes during the export may be
        included in part: suspend the tenant first for a consistent export. Once the deletion of the tenant has
        begun, the answer is 409 `state_conflict` until the deletion has ended, and an export that is running is
        cut. The export is aborted within a second if the credential of the operator is revoked or expires, or if
        the session of the operator ends. The audit log records the call, and such an abort as a second entry with
        the outcome `refused`.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            blobs: Whether to include the stored files. Default: False.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The lines.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.export_tenant("ten_…")
        """
        return self._call(
            Route("GET", "/v1/tenants/{tenant_id}/export", "operator", raw=True),
            path={"tenant_id": tenant_id},
            query={"blobs": blobs},
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_tenant(
        self,
        tenant_id: str,
        *,
        body: types.DeleteTenantBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.DeleteTenantData]:
        """Delete a tenant and its data.

        Operator only. Suspends the tenant at once. After `after_days` (default 7) its rows and stored files are
        removed in the background, in batches; until that begins, the deletion can be cancelled. The ledger, epochs
        and the audit log stay, without names and texts, and so do rooms, which belong to the people in them. A
        repeat changes nothing and shows the state.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            body: The request: after_days (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: The deletion is scheduled.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.delete_tenant("ten_…", body={"after_days": 7})
        """
        return self._call(
            Route("POST", "/v1/tenants/{tenant_id}/deletion", "operator"),
            path={"tenant_id": tenant_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_tenant_deletion(
        self,
        tenant_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetTenantDeletionData]:
        """Read how far a deletion is.

        Operator only. The state is `none` if no deletion of the tenant was requested, or if it was cancelled.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The deletion.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.get_tenant_deletion("ten_…")
        """
        return self._call(
            Route("GET", "/v1/tenants/{tenant_id}/deletion", "operator"),
            path={"tenant_id": tenant_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def cancel_tenant_deletion(
        self,
        tenant_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Cancel a deletion.

        Operator only. Restores the status that the tenant had before, and ends all its sessions of the console, so
        its members sign in again. A deletion that has begun cannot be cancelled: 409 `state_conflict`. Without a
        deletion, nothing changes.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: There is no deletion.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.cancel_tenant_deletion("ten_…")
        """
        return self._call(
            Route("DELETE", "/v1/tenants/{tenant_id}/deletion", "operator"),
            path={"tenant_id": tenant_id},
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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

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
        stopped and settled as after any stop. If some cannot be stopped at once, the answer is 503; the agent is
        suspended all the same, and these sessions are stopped within seconds, also without a repeat. lifted:
        restores the status that the owner set last; without a hold of an operator, nothing changes.

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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

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
        balance is the sum of its rows, the amount held is the sum of the open holds, no hold or coupon is past its
        end, and what was returned of a payment is taken back once. Empty `findings` mean that the ledger is
        consistent.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The report.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

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
        that is not the first can be removed when it has no `processes` and no `values`, and `answers_until` is null
        or has passed, and 30 days (or the retention of events, if that is longer) after the last process sealed
        under it: until then, clients may have stream cursors that need it.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The progress: what was resealed and what remains.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.reseal_secrets()
        """
        return self._call(
            Route("POST", "/v1/operator/reseal", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_processes(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListProcessesDataEntry], types.ListProcessesDataEntry]:
        """List the running processes.

        Operator only. The processes of the API and the job workers on all machines, newest first. Each writes its
        row every 10 seconds and removes it when it stops. A row that was not written for a day is removed. The
        Space service is not among them: it has no access to these tables.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of processes.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_processes()
        """
        return self._page(
            Route("GET", "/v1/operator/processes", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_queues(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadQueuesData]:
        """Read the queues and the periodic tasks.

        Operator only. The depth of each queue at this moment, and when each periodic task (sweep) last ran. One
        process at a time runs a sweep.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The queues and sweeps.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_queues()
        """
        return self._call(
            Route("GET", "/v1/operator/queues", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_versions(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadVersionsData]:
        """Read the versions of release, schema and database.

        Operator only. The release of the process that answers, and what its database has. `pending` is empty unless
        the database waits for `atrium migrate`.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The versions.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_versions()
        """
        return self._call(
            Route("GET", "/v1/operator/versions", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def start_audit(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.StartAuditData]:
        """Start an audit of the ledger.

        Operator only. Queues an audit of the whole books, which begins within five seconds and takes at most ten
        minutes. While one is queued or running, the answer is that one. The last 100 are kept.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: The audit.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.start_audit()
        """
        return self._call(
            Route("POST", "/v1/operator/audits", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_audits(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListAuditsDataEntry], types.ListAuditsDataEntry]:
        """List the audits of the ledger.

        Operator only. The audits that operators started, newest first, without their findings.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of audits.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_audits()
        """
        return self._page(
            Route("GET", "/v1/operator/audits", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_audit(
        self,
        audit_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadAuditData]:
        """Read an audit of the ledger.

        Operator only. The audit with its findings. `rules_checked` is its progress.

        Needs: The operator's token.

        Args:
            audit_id: The id (lau_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The audit.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_audit("lau_…")
        """
        return self._call(
            Route("GET", "/v1/operator/audits/{auditId}", "operator"),
            path={"auditId": audit_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_ledger_proof(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadLedgerProofData]:
        """Read the result of the continuous audit.

        Operator only. Every minute, what was added to the books is compared with the balances, and once a day
        everything is. `proof` is null before the first time.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The result.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_ledger_proof()
        """
        return self._call(
            Route("GET", "/v1/operator/ledger", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_storage(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadStorageData]:
        """Read what database and blob store hold.

        Operator only. The size of the database and of each table, largest first, with indexes and what lies beside
        the rows; partitions count for their table. Sizes on the nodes of Citus are included.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The sizes.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_storage()
        """
        return self._call(
            Route("GET", "/v1/operator/storage", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_storage(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListStorageDataEntry], types.ListStorageDataEntry]:
        """List the tenants by their stored bytes.

        Operator only. The tenants that store artifacts, those with most bytes first.

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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_storage()
        """
        return self._page(
            Route("GET", "/v1/operator/storage/tenants", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def read_space(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ReadSpaceData]:
        """Read the state and the certificate of the Space service.

        Operator only. Asks the Space service now. `invalid`: it answers, but not with a certificate that its key
        has signed. `first_seen_at` is null until the certificate is recorded, which takes up to a minute.

        Needs: The operator's token.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The state.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.read_space()
        """
        return self._call(
            Route("GET", "/v1/operator/space", "operator"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_certificates(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListCertificatesDataEntry], types.ListCertificatesDataEntry]:
        """List the certificates of the Space service.

        Operator only. The certificates that the service has answered with since this was recorded, newest first.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of certificates.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_certificates()
        """
        return self._page(
            Route("GET", "/v1/operator/space/certificates", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_operator_credential(
        self,
        *,
        body: types.CreateOperatorCredentialBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateOperatorCredentialData]:
        """Create an operator credential.

        Operator only. A token of its own for one operator or one program, sent as X-Admin-Token. The token is
        returned only in this answer. The audit log names the credential with each of its actions. At most 20 are
        active; their names differ (409 `state_conflict`).

        Needs: The operator's token.

        Args:
            body: The request: name, expires_at (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The credential.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_operator_credential(body={"name": "ada", "expires_at": "2099-02-20T09:30:00.000Z"})
        """
        return self._call(
            Route("POST", "/v1/operator/credentials", "operator", keyed="createOperatorCredential"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_operator_credentials(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListOperatorCredentialsDataEntry], types.ListOperatorCredentialsDataEntry]:
        """List the operator credentials.

        Operator only. All credentials, oldest first, revoked and expired ones too. `last_used_at` is accurate to
        ten seconds. The bootstrap token (ATRIUM_ADMIN_TOKEN) is not among them.

        Needs: The operator's token.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of credentials.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_operator_credentials()
        """
        return self._page(
            Route("GET", "/v1/operator/credentials", "operator"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def revoke_operator_credential(
        self,
        credential_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Revoke an operator credential.

        Operator only. Every process refuses the token from its next call on. Revoking a revoked credential is a
        no-op. Where the bootstrap token is switched off, the last active credential cannot be revoked: 409
        `state_conflict`.

        Needs: The operator's token.

        Args:
            credential_id: The id (opc_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Revoked.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.revoke_operator_credential("opc_…")
        """
        return self._call(
            Route("DELETE", "/v1/operator/credentials/{credentialId}", "operator"),
            path={"credentialId": credential_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_operator_audit_log(
        self,
        *,
        tenant_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListOperatorAuditLogDataEntry], types.ListOperatorAuditLogDataEntry]:
        """List the changes of operators and tenants.

        Operator only. The entries of all tenants and of the installation, newest first. Each entry was written in
        the transaction of its change, and the database refuses to change it. Entries older than the retention (a
        year, unless the installation sets another time) are removed; an entry records the removal.

        Needs: The operator's token.

        Args:
            tenant_id: The id (ten_…).
            from_: Created at this time or later.
            to: Created before this time.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of entries.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_operator_audit_log()
        """
        return self._page(
            Route("GET", "/v1/operator/audit-log", "operator"),
            query={"tenant_id": tenant_id, "from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_console_link(
        self,
        *,
        body: types.CreateConsoleLinkBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateConsoleLinkData]:
        """Create a one-time link to the console.

        Operator only. The link signs in once, within 10 minutes: with `tenant_id` as an owner of that tenant,
        without it as an operator. Its secret is in the fragment, which browsers do not send; only the hash is
        stored.

        Needs: The operator's token.

        Args:
            body: The request: kind, tenant_id (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The link, once.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_console_link(body={"kind": "tenant", "tenant_id": "ten_4fRzK0vXcB1mQwErTy7uPa"})
        """
        return self._call(
            Route("POST", "/v1/operator/console-links", "operator", keyed="createConsoleLink"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )
