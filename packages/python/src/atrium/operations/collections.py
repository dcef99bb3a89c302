"""Operations: Collections."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class CollectionsOperations(Core):
    """Collections: see /docs of your installation for the guides."""

    def create_collection(
        self,
        *,
        body: types.CollectionCreate,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CollectionCreated]:
        """Make a collection.

        A new collection is open. The holder of its admin_token is the owner. With contributor_policy `token` the
        answer also contains a contributor_token that can only add items. Both tokens are returned only in this
        answer. With `box`, every item is sealed to the recipient on arrival (compact JWE, ECDH-ES+A256KW with
        A256GCM): no plaintext is stored, and only the holder of the private key can read it.

        Needs: A publishable or a secret key.

        Args:
            body: The request: metadata (optional), contributor_policy (optional), item_access (optional), wall
                (optional), app_state (optional), box (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The collection and its capability tokens.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                PayloadTooLargeError, IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_collection(body={
                "metadata": {"share_title": "Lantern night", "theme": "dark"},
                "contributor_policy": "token",
            })
        """
        return self._call(
            Route("POST", "/v1/collections", "publishable", keyed="createCollection"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_collections(
        self,
        *,
        state: Literal["open", "ready", "closed"] | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListCollectionsDataEntry], types.ListCollectionsDataEntry]:
        """List collections.

        The tenant's collections, newest first. A call reads a bounded number of them: with `state` or `q` a page
        may hold fewer than `limit`, or none, and still have a next_cursor.

        Needs: A secret key.

        Args:
            state: Literal["open", "ready", "closed"].
            q: A part of metadata.share_title, in upper or lower case.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of collections.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_collections()
        """
        return self._page(
            Route("GET", "/v1/collections", "secret"),
            query={"state": state, "q": q, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def rotate_collection_tokens(
        self,
        id: str,
        *,
        body: types.RotateCollectionTokensBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.RotateCollectionTokensData]:
        """Rotate the tokens of a collection.

        Creates new tokens for the kinds that are named. The old ones stop working at once. The new ones are
        returned only in this answer: send an Idempotency-Key, and a lost answer can be requested again. It needs no
        owner token, so that a lost one can be replaced. A collection whose policy is `open` has no contributor
        token: 409 `state_conflict`.

        Needs: A secret key.

        Args:
            id: The id (col_…).
            body: The request: rotate.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The new tokens.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.rotate_collection_tokens("col_…", body={"rotate": ["admin_token"]})
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/tokens", "secret", keyed="rotateCollectionTokens"),
            path={"id": id},
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_collection(
        self,
        id: str,
        *,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CollectionPublic]:
        """Read a collection.

        What anyone with the publishable key may see, without the items. The owner token adds `app_state`.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The collection.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            answer = atrium.get_collection("col_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}", "publishable"),
            path={"id": id},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def update_collection(
        self,
        id: str,
        *,
        body: types.CollectionPatch,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.UpdateCollectionData]:
        """Change metadata, policy or visibility.

        `metadata` is applied as JSON Merge Patch (RFC 7396): null removes a field. Changing the policy from open to
        token creates a new contributor_token, which is returned only in this answer. Send an Idempotency-Key so
        that a retry can return it again.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: metadata (optional), contributor_policy (optional), item_access (optional), wall
                (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The collection.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.update_collection("col_…", body={"metadata": {"theme": "neon"}}, collection_token="cat_…")
        """
        return self._call(
            Route("PATCH", "/v1/collections/{id}", "publishable", keyed="updateCollection"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_collection(
        self,
        id: str,
        *,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Delete a collection.

        Deletes the collection, its items and its artifacts permanently, and their stored bytes within seconds.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Gone.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.delete_collection("col_…", collection_token="cat_…")
        """
        return self._call(
            Route("DELETE", "/v1/collections/{id}", "publishable"),
            path={"id": id},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_collection_state(
        self,
        id: str,
        *,
        body: types.SetCollectionStateBody,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SetCollectionStateData]:
        """Advance the state, or merge app_state.

        open → ready → closed, forward only; open → closed is allowed; the current state is a no-op. Backwards is
        409 `state_conflict`. `app_state` is applied as JSON Merge Patch (RFC 7396). Both in one call change
        together or not at all.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: state (optional), app_state (optional).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The state. Contains the merged app_state only when the request patched it.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.set_collection_state("col_…", body={"state": "ready"}, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/state", "publishable"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )
