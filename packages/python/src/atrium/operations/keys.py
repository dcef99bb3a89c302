"""Operations: Keys."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class KeysOperations(Core):
    """Keys: see /docs of your installation for the guides."""

    def list_keys(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        expiring_before: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Key], types.Key]:
        """List keys.

        All keys of the tenant, oldest first, including revoked and expired ones. If they do not fit on a page, the
        first page has the keys that end last: first those that are valid, then those that ended recently. Each page
        is oldest first. `last_used_at` is accurate to about ten seconds.

        Needs: A secret key.

        Args:
            limit: The largest number of keys. Without it, a page has up to 1000 keys.
            cursor: meta.next_cursor of the previous page, unchanged.
            expiring_before: Only keys that are valid now, expire before this time, and have no valid replacement.
                The first page has those that end first.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of the keys.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_keys()
        """
        return self._page(
            Route("GET", "/v1/tenant/keys", "secret"),
            query={"limit": limit, "cursor": cursor, "expiring_before": expiring_before},
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

    def report_leaked_keys(
        self,
        *,
        github_public_key_identifier: str,
        github_public_key_signature: str,
        body: list[types.ReportLeakedKeysBodyEntry],
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.ReportLeakedKeysDataEntry]]:
        """Report leaked keys.

        For the secret scanning of GitHub, in the format of its partner program: the body is signed with a key that
        GitHub publishes (ECDSA P-256 and SHA-256 over the bytes of the body). Needs no tenant key.

        A secret key is revoked, unless its tenant chose `notify`, and the tenant gets the event `key.leaked`. The
        token of an operator credential is revoked. Publishable keys are public and never revoked. A report may be
        repeated: what it has done is not done twice.

        The answer has an entry for each entry of the body, in its order. `true_positive`: a credential of Atrium
        that should not be public.

        Needs: No key.

        Args:
            github_public_key_identifier: Which published key signed the body.
            github_public_key_signature: The signature: base64 of its DER form.
            body: The request; its type says what it holds.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: What each token is.

        Raises:
            AtriumError: UnauthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, PayloadTooLargeError.

        Example:
            answer = atrium.report_leaked_keys(github_public_key_identifier=…, github_public_key_signature=…, body=[
                {
                    "token": "wsk_…",
                    "type": "atrium_secret_key",
                    "url": "https://github.com/octocat/Hello-World/blob/12345600b9cbe38a219f39a9941c9319b600c002/foo/bar.txt",
                    "source": "content",
                },
            ])
        """
        return self._call(
            Route("POST", "/v1/tenant/keys/leaks", "anyone", raw=True),
            headers={"github-public-key-identifier": github_public_key_identifier, "github-public-key-signature": github_public_key_signature},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_key_leaks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        valid: bool | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListKeyLeaksDataEntry], types.ListKeyLeaksDataEntry]:
        """List leaked keys.

        Your keys that were found in public, the newest report first: where they were found, what was done, and what
        the request log has of them. `GET /tenant/requests` with `key_hint` lists all requests of such a key.

        Needs: A secret key.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            valid: true: only keys that are valid now. false: only keys that were revoked or have expired.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of leaked keys.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_key_leaks()
        """
        return self._page(
            Route("GET", "/v1/tenant/keys/leaks", "secret"),
            query={"limit": limit, "cursor": cursor, "valid": valid},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_key_leak_policy(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetKeyLeakPolicyData]:
        """Read what happens to leaked keys.

        `revoke` until you choose.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The policy.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_key_leak_policy()
        """
        return self._call(
            Route("GET", "/v1/tenant/keys/leaks/policy", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_key_leak_policy(
        self,
        *,
        body: types.SetKeyLeakPolicyBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SetKeyLeakPolicyData]:
        """Choose what happens to leaked keys.

        Applies to reports from now on. With `revoke`, even the last secret key is revoked: a member of the console,
        or the operator, then opens the way back. With `notify`, whoever found the key can use it until you revoke
        it.

        Needs: A secret key.

        Args:
            body: The request: action.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The policy.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.set_key_leak_policy(body={"action": "revoke"})
        """
        return self._call(
            Route("PUT", "/v1/tenant/keys/leaks/policy", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )
