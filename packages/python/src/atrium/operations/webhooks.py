"""Operations: Webhooks."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page
from ..streams import EventStream


class WebhooksOperations(Core):
    """Webhooks: see /docs of your installation for the guides."""

    def set_webhook(
        self,
        *,
        body: types.SetWebhookBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SetWebhookData]:
        """Set the webhook.

        Sets the endpoint for events. Deliveries are signed (Standard Webhooks), at least once, with 10 attempts
        over 75 hours with jitter, 15 seconds per attempt, no redirects, public addresses only. A 410 disables the
        webhook at once; so do five days of failures only.

        `secret` (whsec_…) is returned only when it is new: the first time and with `rotate_secret`. For 24 hours
        after a rotation both secrets sign.

        Absent `events`: all types. Absent `enabled`: true. While the webhook is disabled nothing is queued;
        deliveries that were queued before continue once it is enabled again.

        Needs: A secret key.

        Args:
            body: The request: url, events (optional), enabled (optional), rotate_secret (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The webhook.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.set_webhook(body={
                "url": "https://harbour.example/hooks/atrium",
                "events": ["item.created", "collection.state_changed"],
            })
        """
        return self._call(
            Route("PUT", "/v1/tenant/webhooks", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_webhook(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Webhook]:
        """Read the webhook.

        Without its secret. 404 while none is set.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The webhook.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_webhook()
        """
        return self._call(
            Route("GET", "/v1/tenant/webhooks", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_deliveries(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        endpoint: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Delivery], types.Delivery]:
        """List deliveries.

        Of one endpoint, newest first. Kept for 30 days, like the events. With `endpoint`, `attempts` is the list of
        the attempts instead of their number. 404 if the endpoint does not exist.

        Needs: A secret key.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            endpoint: Default: `default`, and `attempts` is a number.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of deliveries.

        Raises:
            AtriumError: InvalidCursorError, NotFoundError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_deliveries()
        """
        return self._page(
            Route("GET", "/v1/tenant/webhooks/deliveries", "secret"),
            query={"limit": limit, "cursor": cursor, "endpoint": endpoint},
            repeatable=repeatable,
            timeout=timeout,
        )

    def resend_delivery(
        self,
        id: str,
        *,
        endpoint: str | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Delivery]:
        """Send a delivery again.

        Queues the delivery again in any state, with the same webhook-id and ten attempts like a new one. 409
        `state_conflict` while the webhook is disabled.

        Needs: A secret key.

        Args:
            id: The id (evt_…).
            endpoint: The endpoint of the delivery. Default: `default`.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: Queued.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.resend_delivery("evt_…")
        """
        return self._call(
            Route("POST", "/v1/tenant/webhooks/deliveries/{id}/resend", "secret", keyed="resendDelivery"),
            path={"id": id},
            query={"endpoint": endpoint},
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def test_webhook(
        self,
        *,
        body: types.TestWebhookBody | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.TestWebhookData]:
        """Send a test event.

        Sends one signed example of the type (default `item.created`, sequence 0, `data.test` true) and returns the
        response of the endpoint. It is sent once, is not listed, and does not count as a failure. 404 while no
        webhook is set. A tenant has few such requests under way at once; others wait a moment, and then get 429
        `rate_limited`.

        Needs: A secret key.

        Args:
            body: The request: type (optional), endpoint (optional). Default: an empty one.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The response of the endpoint.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.test_webhook()
        """
        return self._call(
            Route("POST", "/v1/tenant/webhooks/test", "secret"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_webhook_endpoint(
        self,
        *,
        body: types.CreateWebhookEndpointBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateWebhookEndpointData]:
        """Add a webhook endpoint.

        Adds an endpoint beside the others, up to 20 with the one of `PUT /tenant/webhooks`. Each has its own
        secret, events, order and pauses: one that fails does not delay the others. It receives the events that are
        recorded from now on. 409 `state_conflict`: there are as many as there may be.

        `secret` (whsec_…) is returned only here. If the answer is lost, repeat the request with its
        Idempotency-Key, or rotate the secret.

        Needs: A secret key.

        Args:
            body: The request: url, events (optional), description (optional), enabled (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The endpoint.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.create_webhook_endpoint(body={
                "url": "https://harbour.example/hooks/atrium",
                "events": ["item.created", "collection.state_changed"],
                "description": "The warehouse",
            })
        """
        return self._call(
            Route("POST", "/v1/tenant/webhooks/endpoints", "secret", keyed="createWebhookEndpoint"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_webhook_endpoints(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.ListWebhookEndpointsDataEntry]]:
        """List webhook endpoints.

        `default` first, then the oldest first. Without secrets.

        Needs: A secret key.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: All endpoints.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_webhook_endpoints()
        """
        return self._call(
            Route("GET", "/v1/tenant/webhooks/endpoints", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_webhook_endpoint(
        self,
        id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetWebhookEndpointData]:
        """Read a webhook endpoint.

        Without its secret.

        Needs: A secret key.

        Args:
            id: The endpoint. `default` is the one of `PUT /tenant/webhooks`.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The endpoint.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.get_webhook_endpoint("…")
        """
        return self._call(
            Route("GET", "/v1/tenant/webhooks/endpoints/{id}", "secret"),
            path={"id": id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def update_webhook_endpoint(
        self,
        id: str,
        *,
        body: types.UpdateWebhookEndpointBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.UpdateWebhookEndpointData]:
        """Change a webhook endpoint.

        Changes what the body names. `events: null` means all types. While the endpoint is disabled nothing is
        queued for it; what was queued before continues once it is enabled again. `rotate_secret` returns a new
        secret; for 24 hours both sign.

        Needs: A secret key.

        Args:
            id: The endpoint. `default` is the one of `PUT /tenant/webhooks`.
            body: The request: url (optional), events (optional), description (optional), enabled (optional),
                rotate_secret (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The endpoint.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.update_webhook_endpoint("…", body={"description": "The new warehouse"})
        """
        return self._call(
            Route("PATCH", "/v1/tenant/webhooks/endpoints/{id}", "secret"),
            path={"id": id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_webhook_endpoint(
        self,
        id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Delete a webhook endpoint.

        What is queued for it is not sent any more. An attempt that is under way still ends.

        Needs: A secret key.

        Args:
            id: The endpoint. `default` is the one of `PUT /tenant/webhooks`.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Deleted.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.delete_webhook_endpoint("…")
        """
        return self._call(
            Route("DELETE", "/v1/tenant/webhooks/endpoints/{id}", "secret"),
            path={"id": id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def recover_deliveries(
        self,
        id: str,
        *,
        body: types.RecoverDeliveriesBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.RecoverDeliveriesData]:
        """Send failed deliveries again.

        Queues failed deliveries to the endpoint again whose event is not older than `since`, with ten attempts like
        new ones; with `pending`, also those that wait for their next attempt or for the end of a pause of the
        endpoint. **A call ends after some seconds. If its answer has a `next_cursor`, the deliveries that it did
        not reach are still failed:** send the same request with it as `cursor`, until an answer has none. 409
        `state_conflict` while the endpoint is disabled. Repeat the request if its answer is lost: what is queued
        already is not queued twice.

        Needs: A secret key.

        Args:
            id: The endpoint. `default` is the one of `PUT /tenant/webhooks`.
            body: The request: since, pending (optional), cursor (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: How many were queued. All of them, if there is no `next_cursor`.

        Raises:
            AtriumError: NotFoundError, StateConflictError, InvalidCursorError, InvalidRequestError,
                RateLimitedError, InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError,
                UnauthorizedError, TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.recover_deliveries("…", body={"since": "2026-11-20T09:00:00.000Z"})
        """
        return self._call(
            Route("POST", "/v1/tenant/webhooks/endpoints/{id}/recover", "secret"),
            path={"id": id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_events(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.Event]]:
        """Pull events.

        Every event in the order of `sequence`, the same that a webhook gets. Continue with `after` set to the last
        sequence that you handled; an empty list means that there is nothing new. Once a call has returned, its
        events are in the list. Events are kept for 30 days; a reader that is further behind continues with the
        oldest one left.

        Needs: A secret key.

        Args:
            after: Events with a greater sequence. Default: 0.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: Events, oldest first.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_events()
        """
        return self._call(
            Route("GET", "/v1/events", "secret"),
            query={"after": after, "limit": limit},
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_event_hashes(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[list[types.ListEventHashesDataEntry]]:
        """List the hashes of events.

        The chain of the events without their content, in the order of `sequence`: for readers that receive only
        some types of events and want to know that none of these is missing. Pages as in `GET /events`.

        Needs: A secret key.

        Args:
            after: Events with a greater sequence. Default: 0.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: Hashes, oldest first.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_event_hashes()
        """
        return self._call(
            Route("GET", "/v1/events/hashes", "secret"),
            query={"after": after, "limit": limit},
            repeatable=repeatable,
            timeout=timeout,
        )

    def prove_event_head(
        self,
        *,
        day: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ProveEventHeadData]:
        """Prove the head of the chain of events.

        Once a day, the last events of all tenants become the leaves of a Merkle tree, whose root is in the
        transparency log. So a chain that was rewritten since is noticed. The hash of a leaf is SHA-256 of a zero
        byte, the salt, the number 1 in 64 bits (most significant byte first) and `head`. The hash of a node is
        SHA-256 of the byte 1 and, for its left and then its right child, the number of chains in 64 bits and the
        hash. The guide "The chain of events" has a program that verifies it.

        Needs: A secret key.

        Args:
            day: UTC. Default: the last day with a root.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The root and the proof.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.prove_event_head()
        """
        return self._call(
            Route("GET", "/v1/events/proof", "secret"),
            query={"day": day},
            repeatable=repeatable,
            timeout=timeout,
        )

    def stream_events(
        self,
        *,
        last_event_id: str | None = None,
    ) -> EventStream:
        """Stream events.

        All events of the tenant as they happen, in the order of `sequence`. Each message is named after the type of
        its event, and its data is the event as `GET /events` lists it.

        The response is `text/event-stream` (HTML, 9.2) and stays open:
        - Without Last-Event-ID the stream starts now. Its first message is `ready`, whose `id` is a cursor.
        - With Last-Event-ID it continues after that message, without a gap and without a repeat.
        - A cursor is opaque, belongs to one stream and is valid while events are stored (30 days). A stream with an
        expired cursor begins with `reset`: read the state again.
        - A comment is sent every 15 seconds and may have a newer `id`.

        Each API process limits the open streams in total, per tenant and per IP address (429). The stream ends
        within 15 seconds once the key is revoked or the tenant suspended.

        Needs: A secret key.

        Args:
            last_event_id: ``id`` of the last message that you handled. Absent: the stream starts now.

        Returns:
            200: `ready`, `reset`, and a message for each event.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            for message in atrium.stream_events():
                print(message.event, message.data)
        """
        return self._stream(
            Route("GET", "/v1/events/stream", "secret", raw=True),
            last_event_id=last_event_id,
        )
