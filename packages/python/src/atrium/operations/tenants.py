"""Operations: Tenants."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


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
        has expired or never existed is 403 `invite_invalid` in all three cases. The new tenant holds both roles.

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
            Route("POST", "/v1/tenants/signup", "anyone", keyed="signUpTenant"),
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
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_tenant()
        """
        return self._call(
            Route("GET", "/v1/tenant", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def export_own_tenant(
        self,
        *,
        blobs: bool | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[str]:
        """Export all data of your tenant.

        Only the session of an owner in the console may call this: a key may not, whatever its kind. The lines are
        those of the operator's export: `{format, version, tenant_id, exported_at}`, then `{table, row}` for each
        row and, with `blobs`, `{blob: {key, bytes, offset, base64}}` for the pieces of the stored files. The last
        line is `{end: true, rows, blobs}`; an export without it was cut. Keys, tokens, codes and other secrets are
        not exported. An export whose reader is slow may be cut when another tenant needs its place. The export is
        aborted within a second if the session ends or the member is no longer an owner. The audit log records the
        call, and such an abort as a second entry with the outcome `refused`.

        Needs: A session of the console with the role owner. A call with a key is refused.

        Args:
            blobs: Whether to include the stored files. Default: False.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The lines.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.export_own_tenant()
        """
        return self._call(
            Route("GET", "/v1/tenant/export", "secret", raw=True),
            query={"blobs": blobs},
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_own_tenant(
        self,
        *,
        body: types.DeleteOwnTenantBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.DeleteOwnTenantData]:
        """Delete your tenant and its data.

        Only the session of an owner in the console may call this: a key may not, whatever its kind. `tenant_id` is
        the id of your tenant, as a confirmation. The tenant is suspended immediately: its keys, pages and console
        stop working. After 7 days its data is removed; until then an operator can cancel the deletion.

        Needs: A session of the console with the role owner. A call with a key is refused.

        Args:
            body: The request: tenant_id.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: The deletion is scheduled.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.delete_own_tenant(body={"tenant_id": "ten_4fRzK0vXcB1mQwErTy7uPa"})
        """
        return self._call(
            Route("POST", "/v1/tenant/deletion", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def look_up_outcome(
        self,
        *,
        body: types.LookUpOutcomeBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.LookUpOutcomeData]:
        """Ask what became of a request.

        For a caller that has lost an answer, or has crashed: returns the stored answer of a request with an
        Idempotency-Key, without sending the request again. It needs the same kind of key as that request and, where
        its operation takes one, the same X-Collection-Token.

        `none`: there is no record. The request never arrived, failed, has expired, or still runs in another process
        that has written nothing. A repeat with the same Idempotency-Key is safe in each of these cases; one with
        another key is not. `in_progress`: it runs. `done`: `status`, `answer` (its whole body, absent if it had
        none) and `expires_at`, until when the answer is kept.

        With the hash of another body the answer is `none`, as if there were no record: a caller that has only the
        key learns nothing. The query is not compared. Requests of operators, of sessions and without a key are
        repeated instead.

        Needs: A publishable or a secret key.

        Args:
            body: The request: idempotency_key, operation, path, body_sha256.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: What is known of the request.

        Raises:
            AtriumError: NotFoundError, SecretKeyRequiredError, IssuerRoleRequiredError, OwnerTokenRequiredError,
                ContributorTokenRequiredError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.look_up_outcome(body={
                "idempotency_key": "5f0c1a52-6a1e-4b9e-9d3f-0c8f6f2f7a11",
                "operation": "createCollection",
                "path": "/v1/collections",
                "body_sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            })
        """
        return self._call(
            Route("POST", "/v1/outcomes/lookup", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_audit_log(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListAuditLogDataEntry], types.ListAuditLogDataEntry]:
        """List the changes to your tenant, and who made them.

        The changes that your secret keys and the operator made: keys, webhook, provider keys, agents, tokens of
        collections, limits and status of the tenant. Newest first. Each entry was written in the transaction of its
        change, and the database refuses to change it. Entries older than the retention (a year, unless the
        installation sets another time) are removed; an entry records the removal. The name and the address of an
        operator are not shown.

        Needs: A secret key.

        Args:
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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_audit_log()
        """
        return self._page(
            Route("GET", "/v1/tenant/audit-log", "secret"),
            query={"from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_members(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.ListMembersDataEntry]]:
        """List the members of your tenant.

        The people who may use the console of the tenant, and those who are invited. Oldest first.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The members.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_members()
        """
        return self._call(
            Route("GET", "/v1/tenant/members", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_member(
        self,
        *,
        body: types.CreateMemberBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateMemberData]:
        """Invite a member.

        Only the session of an owner in the console may call this: a key may not, whatever its kind. The answer has
        a link, once, which is valid for 7 days. Where the console has an identity provider, the member signs in
        there with an account of this address, and from then on with that account.

        Needs: A session of the console with the role owner. A call with a key is refused.

        Args:
            body: The request: email, role, name (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The member.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_member(body={
                "email": "ada@harbour.example",
                "role": "moderator",
                "name": "Ada",
            })
        """
        return self._call(
            Route("POST", "/v1/tenant/members", "secret", keyed="createMember"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def update_member(
        self,
        member_id: str,
        *,
        body: types.UpdateMemberBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.UpdateMemberData]:
        """Change the role of a member, or invite again.

        Only the session of an owner in the console may call this: a key may not, whatever its kind. A new role
        applies to the next request of the member. With `invite`, the answer has a new link, and the previous ones
        end. A `name` of null removes it. The last owner who has signed in keeps the role: 409 `state_conflict`.

        Needs: A session of the console with the role owner. A call with a key is refused.

        Args:
            member_id: The id (mem_…).
            body: The request: role (optional), name (optional), invite (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The member; with `invite`, also the link.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.update_member("mem_…", body={"role": "developer"})
        """
        return self._call(
            Route("PATCH", "/v1/tenant/members/{memberId}", "secret"),
            path={"memberId": member_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def remove_member(
        self,
        member_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Remove a member.

        Only the session of an owner in the console may call this: a key may not, whatever its kind. The sessions
        and links of the member end at once. The last owner who has signed in cannot be removed: 409
        `state_conflict`.

        Needs: A session of the console with the role owner. A call with a key is refused.

        Args:
            member_id: The id (mem_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Removed.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.remove_member("mem_…")
        """
        return self._call(
            Route("DELETE", "/v1/tenant/members/{memberId}", "secret"),
            path={"memberId": member_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_requests(
        self,
        *,
        request_id: str | None = None,
        status: str | None = None,
        method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] | None = None,
        path: str | None = None,
        key_hint: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListRequestsDataEntry], types.ListRequestsDataEntry]:
        """List the requests of your keys.

        Every answered request of your keys, newest first, with its result and without its content: no body, no
        query string, no header but Origin, no IP address. A request that showed no valid key is not listed, and
        neither is what members do in the console, whose changes are in the audit log. Requests of the last seconds
        may be missing, and some are if the database was overloaded: the log never delays a request. A page may be
        shorter than `limit`, or empty, with more to follow: one call reads about 50,000 entries.

        Needs: A secret key.

        Args:
            request_id: The id (req_…).
            status: A status such as `404`, a class such as `4xx`, or `errors` for 4xx and 5xx.
            method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].
            path: The path as the API declares it, such as `/collections/{id}/items`.
            key_hint: The hint of the key, or how it ends, such as `9xQ2`.
            from_: Created at this time or later.
            to: Created before this time.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of requests.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_requests()
        """
        return self._page(
            Route("GET", "/v1/tenant/requests", "secret"),
            query={"request_id": request_id, "status": status, "method": method, "path": path, "key_hint": key_hint, "from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def summarise_requests(
        self,
        *,
        by: Literal["hour", "day"] | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SummariseRequestsData]:
        """Count your requests and their errors over time.

        The last 48 hours by hour, or each day (UTC) that the log keeps, at most 90: oldest first, without a gap. It
        counts the requests that `GET /tenant/requests` lists.

        The counts are exact. `p95_ms` comes from a sample of at most 1,600 requests an hour or day; `sampled` is
        true if there are more.

        Needs: A secret key.

        Args:
            by: Default: "hour".
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The hours or days.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.summarise_requests()
        """
        return self._call(
            Route("GET", "/v1/tenant/requests/summary", "secret"),
            query={"by": by},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_request_log_settings(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetRequestLogSettingsData]:
        """Read whether your requests are logged.

        Whether requests of your keys are logged, and how long the installation keeps the entries.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The settings.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_request_log_settings()
        """
        return self._call(
            Route("GET", "/v1/tenant/requests/settings", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_request_log_settings(
        self,
        *,
        body: types.SetRequestLogSettingsBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SetRequestLogSettingsData]:
        """Switch the request log on or off.

        Applies in every process normally within a second and never later than 15 seconds. Entries that exist stay
        for their time.

        Needs: A secret key.

        Args:
            body: The request: enabled.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The settings.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.set_request_log_settings(body={"enabled": False})
        """
        return self._call(
            Route("PUT", "/v1/tenant/requests/settings", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )
