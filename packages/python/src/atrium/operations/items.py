"""Operations: Items."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page
from ..streams import EventStream


class ItemsOperations(Core):
    """Items: see /docs of your installation for the guides."""

    def stream_collection(
        self,
        id: str,
        *,
        collection_token: str | None = None,
        last_event_id: str | None = None,
    ) -> EventStream:
        """Stream a collection.

        The messages depend on the credentials:
        - With the publishable key, the open items of the collection (approved, not archived, access `open`): `item`
        with the item when it becomes open or is curated, `removed` with its id when it is no longer open or was
        deleted. The item is sent as it is when the message is sent.
        - With the owner token, all events of the collection's items, artifacts and state. Each message is named
        after the type of its event, and its data is `{id, type, created_at, data}`.

        The response is `text/event-stream` (HTML, 9.2) and stays open:
        - Without Last-Event-ID the stream starts now. Its first message is `ready`, whose `id` is a cursor.
        - With Last-Event-ID it continues after that message, without a gap and without a repeat.
        - A cursor is opaque, belongs to one stream and is valid while events are stored (30 days). A stream with an
        expired cursor begins with `reset`: read the state again.
        - A comment is sent every 15 seconds and may have a newer `id`.

        Each API process limits the open streams in total, per tenant and per IP address (429). The stream ends
        within 15 seconds once the key is revoked, the tenant suspended, the owner token replaced or the collection
        deleted.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            collection_token: The owner token, which shows more.
            last_event_id: ``id`` of the last message that you handled. Absent: the stream starts now.

        Returns:
            200: `ready`, `reset`, and `item` and `removed`; with the owner token, a message for each event.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            for message in atrium.stream_collection("col_…"):
                print(message.event, message.data)
        """
        return self._stream(
            Route("GET", "/v1/collections/{id}/stream", "publishable", raw=True),
            path={"id": id},
            collection_token=collection_token,
            last_event_id=last_event_id,
        )

    def stream_wall(
        self,
        id: str,
        *,
        last_event_id: str | None = None,
    ) -> EventStream:
        """Stream a wall.

        The open items of a collection whose `wall` is true, without a credential: the messages that `GET
        /collections/{id}/stream` sends with the publishable key. Otherwise 404. The response header
        `Collection-State` has the state of the collection.

        The response is `text/event-stream` (HTML, 9.2) and stays open:
        - Without Last-Event-ID the stream starts now. Its first message is `ready`, whose `id` is a cursor.
        - With Last-Event-ID it continues after that message, without a gap and without a repeat.
        - A cursor is opaque, belongs to one stream and is valid while events are stored (30 days). A stream with an
        expired cursor begins with `reset`: read the state again.
        - A comment is sent every 15 seconds and may have a newer `id`.

        Each API process limits the open streams in total, per tenant and per IP address (429). The stream ends
        within 15 seconds once the wall is switched off, the tenant suspended or the collection deleted. It also
        ends when the state changes: connect again to continue.

        Needs: No key.

        Args:
            id: The id (col_…).
            last_event_id: ``id`` of the last message that you handled. Absent: the stream starts now.

        Returns:
            200: `ready`, `reset`, `item` and `removed`.

        Raises:
            AtriumError: InvalidCursorError, NotFoundError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError.

        Example:
            for message in atrium.stream_wall("col_…"):
                print(message.event, message.data)
        """
        return self._stream(
            Route("GET", "/v1/collections/{id}/wall/stream", "anyone", raw=True),
            path={"id": id},
            last_event_id=last_event_id,
        )

    def list_items(
        self,
        id: str,
        *,
        collection_token: str,
        type: str | None = None,
        author: str | None = None,
        approved: bool | None = None,
        archived: bool | None = None,
        hero: bool | None = None,
        access: Literal["owner", "open", "email"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        q: str | None = None,
        order: Literal["newest", "oldest"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[types.CollectionOwner, types.Item]:
        """List all items.

        A call reads a bounded number of items: with filters a page may hold fewer than `limit`, or none, and still
        have a next_cursor. Every item, oldest first, including items that are not approved or are archived, with
        their curation flags.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            collection_token: The owner token (admin_token).
            type: 1–64 characters of a-z 0-9 . _ -
            author: Exactly this author.
            approved: bool.
            archived: bool.
            hero: bool.
            access: Only items with this access. `owner` with `approved=true`: the items that wait for a moderator
                to open them.
            from_: Added at this time or later.
            to: Added before this time.
            q: Text in the JSON of the content or in the author, in upper or lower case. Content that is sealed is
                not readable.
            order: By the time at which they were added. Default: "oldest".
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of items.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError.

        Example:
            answer = atrium.list_items("col_…", collection_token="cat_…")
        """
        return self._page(
            Route("GET", "/v1/collections/{id}/items", "publishable"),
            path={"id": id},
            query={"type": type, "author": author, "approved": approved, "archived": archived, "hero": hero, "access": access, "from": from_, "to": to, "q": q, "order": order, "limit": limit, "cursor": cursor},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_open_items(
        self,
        id: str,
        *,
        order: Literal["newest", "oldest"] | None = None,
        type: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListOpenItemsDataEntry], types.ListOpenItemsDataEntry]:
        """List the open items.

        What visitors may read: items that are approved, not archived and have the access `open`. A collection whose
        `item_access` is `open` adds its items with that access; the owner can change it for each item. A box lists
        none.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            order: By the time at which they were added. Default: "newest".
            type: 1–64 characters of a-z 0-9 . _ -
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of items.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            answer = atrium.list_open_items("col_…")
        """
        return self._page(
            Route("GET", "/v1/collections/{id}/items/open", "publishable"),
            path={"id": id},
            query={"order": order, "type": type, "limit": limit, "cursor": cursor},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def add_item(
        self,
        id: str,
        *,
        body: types.CollectionItemCreate,
        collection_token: str | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.AddItemData]:
        """Add an item.

        A new item is approved at once, and its access is the item_access of the collection. With contributor_policy
        `token` the call needs the contributor or owner token. Outside state open: 409 `collection_not_open`. For a
        collection with a box the answer is {ok: true}: the content is sealed on arrival, unless the client sends it
        sealed as {type: "sealed", content: a compact JWE}.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: type, content, author (optional).
            collection_token: The contributor or owner token, if the collection asks for one.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The id, or {ok: true} for a box.

        Raises:
            AtriumError: CollectionNotOpenError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, ContributorTokenRequiredError, NotFoundError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.add_item("col_…", body={
                "type": "message",
                "content": {"text": "Happy birthday, old lighthouse!"},
                "author": "Ada",
            })
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/items", "publishable", keyed="addItem"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_item(
        self,
        id: str,
        item_id: str,
        *,
        x_id_token: str | None = None,
        x_spk: str | None = None,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Item]:
        """Read one item.

        The owner token can read any item. Otherwise its access decides: `open` is for anyone; `email` needs
        X-Id-Token (a fresh ID token of the identity provider) and X-Spk (the device's public key as a JSON JWK,
        whose thumbprint is the token's nonce), else 403 `not_authorized` with error.reason; `owner`: 404.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            item_id: The id (itm_…).
            x_id_token: ID token (RS256) of the identity provider.
            x_spk: Public JWK (EC P-256) of the device, as JSON.
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The item.

        Raises:
            AtriumError: NotAuthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            answer = atrium.get_item("col_…", "itm_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}/items/{itemId}", "publishable"),
            path={"id": id, "itemId": item_id},
            headers={"x-id-token": x_id_token, "x-spk": x_spk},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def curate_item(
        self,
        id: str,
        item_id: str,
        *,
        body: types.CurationPatch,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CurateItemData]:
        """Curate an item.

        Sets curation flags or access. Setting hero clears the previous hero in the same transaction. `grant` and
        `revoke` are e-mail addresses, which are stored sealed. A revoked account gets error.reason `revoked`.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            item_id: The id (itm_…).
            body: The request: approved (optional), archived (optional), hero (optional), access (optional), grant
                (optional), revoke (optional).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The item.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.curate_item("col_…", "itm_…", body={"archived": True}, collection_token="cat_…")
        """
        return self._call(
            Route("PATCH", "/v1/collections/{id}/items/{itemId}", "publishable"),
            path={"id": id, "itemId": item_id},
            body=body,
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def curate_items(
        self,
        id: str,
        *,
        body: types.CurateItemsBody,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CurateItemsData]:
        """Curate or delete many items.

        Up to 500 items at once, with `patch` as for one item or with `delete: true`. All or nothing: an id that is
        not in the collection is 400 with a detail that names it, and nothing was changed. `hero: true` is for one
        item. Each item that changed has its own event.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: ids, patch (optional), delete (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The outcome for each item, in the order of the ids.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.curate_items("col_…", body={
                "ids": ["itm_4fRzK0vXcB1mQwErTy7uPa"],
                "patch": {"approved": False},
            }, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/items/bulk", "publishable", keyed="curateItems"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_item(
        self,
        id: str,
        item_id: str,
        *,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Delete an item.

        Deletes the item permanently.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            item_id: The id (itm_…).
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
            answer = atrium.delete_item("col_…", "itm_…", collection_token="cat_…")
        """
        return self._call(
            Route("DELETE", "/v1/collections/{id}/items/{itemId}", "publishable"),
            path={"id": id, "itemId": item_id},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def export_items(
        self,
        id: str,
        *,
        collection_token: str,
        type: str | None = None,
        author: str | None = None,
        approved: bool | None = None,
        archived: bool | None = None,
        hero: bool | None = None,
        access: Literal["owner", "open", "email"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        q: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[str]:
        """Export all items.

        The items as `application/x-ndjson`, one JSON value a line, oldest first.

        The first line is `{format, version, collection_id, exported_at, filters}`, then each line is an item as the
        list shows it, and the last line is `{end: true, items}` with their number. An export without that line was
        cut: start again. Where the filters leave out very many items in a row, single spaces precede the next line,
        so that the connection is not silent: JSON permits them before a value.

        The export has the items that were added before it began, as they are when they are read; one that is
        deleted meanwhile may be missing.

        It ends early within 15 seconds once the key is revoked, the tenant suspended, the owner token replaced or
        the collection deleted, and where the client reads nothing for two minutes. Exports that run at the same
        time are limited (429): while all places are taken, one that is read slower than 256 KiB a second may be cut
        for another tenant.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            collection_token: The owner token (admin_token).
            type: 1–64 characters of a-z 0-9 . _ -
            author: Exactly this author.
            approved: bool.
            archived: bool.
            hero: bool.
            access: Only items with this access. `owner` with `approved=true`: the items that wait for a moderator
                to open them.
            from_: Added at this time or later.
            to: Added before this time.
            q: Text in the JSON of the content or in the author, in upper or lower case. Content that is sealed is
                not readable.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The lines.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError.

        Example:
            answer = atrium.export_items("col_…", collection_token="cat_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}/export", "publishable", raw=True),
            path={"id": id},
            query={"type": type, "author": author, "approved": approved, "archived": archived, "hero": hero, "access": access, "from": from_, "to": to, "q": q},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )
