"""Operations: Sessions."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class SessionsOperations(Core):
    """Sessions: see /docs of your installation for the guides."""

    def create_quote(
        self,
        *,
        body: types.CreateQuoteBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateQuoteData]:
        """Get a price that holds.

        A signed quote of the price of a launch, valid for 15 minutes. `POST /sessions` with this `quote` is never
        dearer: it costs the quoted price or, if that is lower, the current one. A quote reserves nothing, and can
        be used for several launches by the tenant that asked for it.

        `quote` is a compact JWS (ES256, `typ: quote+jwt`) by a key of `/.well-known/jwks.json`, with `iss` (the API
        origin), `aud` (the tenant), `sub` (the agent), `price`, `max_minutes`, `credits_per_1k_tokens` and
        `credits_per_tool_call` (of metered use, promised like the price), `iat` and `exp`. An agent that does not
        exist or that you may not launch is 400.

        Needs: A publishable or a secret key.

        Args:
            body: The request: agent_id, max_minutes (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The quote.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                PayloadTooLargeError.

        Example:
            answer = atrium.create_quote(body={"agent_id": "agt_4fRzK0vXcB1mQwErTy7uPa", "max_minutes": 30})
        """
        return self._call(
            Route("POST", "/v1/quotes", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_sessions(
        self,
        *,
        status: Literal["armed", "launching", "running", "paused", "stopping", "stopped", "failed", "expired"] | None = None,
        agent_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.SessionStatus], types.SessionStatus]:
        """List the sessions.

        The sessions that the tenant launched and its pending launches (`armed`), newest first. Control tokens,
        summon keys, room keys and coupons are not part of it. A call reads a bounded number of sessions: with
        filters a page may hold fewer than `limit`, or none, and still have a next_cursor. A session is listed for
        as long as it is kept: 90 days after its end, unless the installation sets another time.

        Needs: A secret key.

        Args:
            status: Literal["armed", "launching", "running", "paused", "stopping", "stopped", "failed", "expired"].
            agent_id: The id (agt_…).
            from_: Created at this time or later.
            to: Created before this time.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of sessions.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_sessions()
        """
        return self._page(
            Route("GET", "/v1/sessions", "secret"),
            query={"status": status, "agent_id": agent_id, "from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def launch_session(
        self,
        *,
        body: types.SessionLaunch,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SessionAlreadyPresent | types.Session | types.SessionArmed]:
        """Launch an agent into a room.

        Holds the agent's price on the coupon and launches the agent. The hold is captured when the session stops
        after the agent joined, and released if it never joined.

        A retry with the same Idempotency-Key neither launches nor charges twice.

        With `arm` it only prepares a pending launch: the answer contains a summon key and nothing is charged; a
        pending launch expires after 90 days.

        - 200 means that the same agent is in the room already.
        - Both kinds of tenant key are accepted, because the coupon pays; a spent coupon is 402, even if the price
        is 0.
        - An agent that does not exist or that you may not launch is 400; an agent that an e-mail room has not
        admitted is 403 `not_authorized`.
        - A room whose lines the clients seal takes remote agents that have an `encryption_key`, with
        `room.sealed_key` in place of `room.mk`. A hosted agent can only read along with the consent of the owner of
        the room: prepare the launch with `arm` and neither `mk` nor `sealed_key`, write a list that names the
        `card` of the answer, and use the summon key. The prepared launch expires after 15 minutes. Any other launch
        into it is 409 `state_conflict` with the reason `client_sealed`. If the agent has another key than the one
        that was sealed to, the reason is `agent_key_changed`: read the catalog and seal again. `arm` with a
        `sealed_key` is 400, because it is good for one session.

        If the agent costs more than `max_price_credits`, nothing is launched or charged: 409 `price_changed`, whose
        `details` contain both prices (`price_credits`, `agreed_price_credits`). Without `max_price_credits` the
        same applies to a price that was raised in the last ten minutes; the lowest price of that time counts as
        agreed to.

        `budget_credits` are held from the same coupon, in addition to the price, and pay what the agent uses. An
        agent without metered prices, such as a remote one, uses none: a budget for it is 400.

        With a `quote` the launch costs the quoted price, or the current one if that is lower. A quote that has
        expired, is for another agent or tenant, or for fewer minutes than asked for, is 400.

        A tenant has at most 500 sessions launching or running and 10000 pending launches; beyond that the answer is
        429 `rate_limited`, whose message names the limit.

        Needs: A publishable or a secret key.

        Args:
            body: The request: agent_id, room, coupon, max_price_credits (optional), quote (optional),
                budget_credits (optional), arm (optional), max_minutes (optional), metadata (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The same agent is in the room already.
            201: Launched or, with `arm`, prepared.

        Raises:
            AtriumError: InsufficientCreditError, NotAuthorizedError, PriceChangedError, StateConflictError,
                InvalidRequestError, RateLimitedError, InternalError, UnavailableError, RequestTimeoutError,
                HeadersTooLargeError, UnauthorizedError, TenantSuspendedError, SecretKeyInBrowserError,
                NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError, IdempotencyKeyRequiredError.

        Example:
            answer = atrium.launch_session(body={
                "agent_id": "agt_4fRzK0vXcB1mQwErTy7uPa",
                "room": {
                    "room": "lantern-night",
                    "mk": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA",
                },
                "coupon": "cpn_…",
                "max_price_credits": 5,
            })
        """
        return self._call(
            Route("POST", "/v1/sessions", "publishable", keyed="launchSession", billed=True),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def summon_session(
        self,
        *,
        body: types.SummonSessionBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Session]:
        """Start a pending launch.

        The summon key in the body is the credential; an unknown one is 401. Charges the coupon that was stored when
        the launch was prepared: the agent’s price, but never more than at that time.

        If the price has risen since, the answer is 409 `price_changed`, nothing is charged, and the launch stays
        pending.

        While a session of this key runs, the answer is 409 `state_conflict`; after the session has ended the key
        can be used again.

        Of a hosted agent for a room whose lines the clients seal, the key is good for one session. Unless the list
        in force names the device of the prepared launch, nothing is charged: 409 `state_conflict` with the reason
        `no_consent`.

        Needs: No key.

        Args:
            body: The request: summon_key.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: Launched.

        Raises:
            AtriumError: UnauthorizedError, TenantSuspendedError, InsufficientCreditError, NotAuthorizedError,
                PriceChangedError, StateConflictError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.summon_session(body={"summon_key": "sk_…"})
        """
        return self._call(
            Route("POST", "/sessions/summon", "anyone", keyed="summonSession"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_session(
        self,
        id: str,
        *,
        control_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SessionStatus]:
        """Read a session.

        Needs the control token of the session. With the token of another session the answer is 404, as if this one
        did not exist. A session is kept for 90 days after it has ended, unless the installation sets another time;
        then its token is 401.

        Needs: A session's control token.

        Args:
            id: The id (ses_…).
            control_token: Of the session (sct_…). Default: that of the client.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The session.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError.

        Example:
            answer = atrium.get_session("ses_…")
        """
        return self._call(
            Route("GET", "/sessions/{id}", "control"),
            path={"id": id},
            control_token=control_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def stop_session(
        self,
        id: str,
        *,
        control_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.StopSessionData]:
        """Stop a session.

        Removes the agent and settles the bill. Stopping a stopped session changes nothing and returns the same
        answer. The control token of another session is 403 `not_authorized`, whether or not this one exists.

        Needs: A session's control token.

        Args:
            id: The id (ses_…).
            control_token: Of the session (sct_…). Default: that of the client.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: Stopped.

        Raises:
            AtriumError: NotAuthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.stop_session("ses_…")
        """
        return self._call(
            Route("POST", "/sessions/{id}/stop", "control"),
            path={"id": id},
            control_token=control_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def top_up_session(
        self,
        id: str,
        *,
        body: types.TopUpSessionBody,
        control_token: str | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SessionStatus]:
        """Add to the budget of a session.

        Holds `budget_credits` on the coupon, which may be another one than at the launch, and adds them to the
        budget. A paused session continues: the agent answers what was said meanwhile. A session that is not paused
        keeps running with the larger budget.

        The last answer of the model may have used more than the budget. The top-up pays for that part too; one that
        does not exceed it is 400, and nothing is held.

        Only the launcher’s control token is accepted; that of the agent is 403 `not_authorized`. On a session that
        has ended, or was launched without a budget, it is 409 `state_conflict`. Its end settles all holds of a
        session: what was used is captured, in the order of the top-ups, and the rest is released.

        Needs: A session's control token.

        Args:
            id: The id (ses_…).
            body: The request: coupon, budget_credits.
            control_token: Of the session (sct_…). Default: that of the client.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The session.

        Raises:
            AtriumError: InsufficientCreditError, NotAuthorizedError, StateConflictError, InvalidRequestError,
                RateLimitedError, InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError,
                UnauthorizedError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError, IdempotencyKeyRequiredError.

        Example:
            answer = atrium.top_up_session("ses_…", body={"coupon": "cpn_…", "budget_credits": 20})
        """
        return self._call(
            Route("POST", "/v1/sessions/{id}/top-up", "control", keyed="topUpSession", billed=True),
            path={"id": id},
            body=body,
            control_token=control_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def mark_session_joined(
        self,
        id: str,
        *,
        control_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SessionStatus]:
        """Report that the agent joined.

        A remote agent calls this with the control token of its launch request once it is in the room. From then on
        the price is due. A repeat changes nothing; on a session that has ended it is 409 `state_conflict`. The
        token of the launcher is 403 `not_authorized`.

        Needs: A session's control token.

        Args:
            id: The id (ses_…).
            control_token: Of the session (sct_…). Default: that of the client.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The session.

        Raises:
            AtriumError: NotAuthorizedError, StateConflictError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.mark_session_joined("ses_…")
        """
        return self._call(
            Route("POST", "/sessions/{id}/joined", "control"),
            path={"id": id},
            control_token=control_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def issue_id_token(
        self,
        id: str,
        *,
        body: types.IssueIdTokenBody,
        control_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.IssueIdTokenData]:
        """Get an ID token for a remote agent.

        Issues an ID token which states that the holder of the device key in the body is the agent of this session.
        The Space service requires it from an agent in an e-mail room, and in any room it names the agent as the
        author.

        It needs the control token of the agent’s launch request; the launcher’s control token is 403
        `not_authorized`.

        RS256, by the key set of the API origin (`/.well-known/openid-configuration`); `aud` is the origin of the
        Space service, `sub` the agent’s id, `nonce` the RFC 7638 thumbprint of `spk`, and the header’s `typ` is
        `agent+jwt`. It is valid for 45 seconds, but not beyond the session’s `expires_at`, so that it does not
        outlive its session. Get a fresh one before a long poll, and whenever the Space service answers `token:
        expired`.

        On a session that has ended it is 409 `state_conflict`, and while an operator holds the agent or has
        suspended its tenant 403 `not_authorized`.

        Needs: A session's control token.

        Args:
            id: The id (ses_…).
            body: The request: spk.
            control_token: Of the session (sct_…). Default: that of the client.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The token and its expiry.

        Raises:
            AtriumError: NotAuthorizedError, StateConflictError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.issue_id_token("ses_…", body={
                "spk": {
                    "kty": "EC",
                    "crv": "P-256",
                    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                },
            })
        """
        return self._call(
            Route("POST", "/sessions/{id}/id-token", "control"),
            path={"id": id},
            body=body,
            control_token=control_token,
            repeatable=repeatable,
            timeout=timeout,
        )
