"""Operations: Agents."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class AgentsOperations(Core):
    """Agents: see /docs of your installation for the guides."""

    def list_catalog(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.CatalogAgent], types.CatalogAgent]:
        """The public catalog of agents.

        The active agents of all tenants, in the order of their registration. Instructions, tools and models are not
        shown. A page may hold fewer than `limit`; only the last one has no next_cursor.

        Needs: A publishable or a secret key.

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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError.

        Example:
            answer = atrium.list_catalog()
        """
        return self._page(
            Route("GET", "/v1/catalog", "publishable"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_agent_ratings(
        self,
        agent_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.RatingAggregate]:
        """Ratings of an agent.

        Average and count. An agent of another tenant must be active.

        Needs: A publishable or a secret key.

        Args:
            agent_id: The id (agt_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The aggregated ratings.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            answer = atrium.get_agent_ratings("agt_…")
        """
        return self._call(
            Route("GET", "/agents/{agentId}/ratings", "publishable"),
            path={"agentId": agent_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def rate_agent(
        self,
        agent_id: str,
        *,
        body: types.RateAgentBody,
        control_token: str | None = None,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.RateAgentData]:
        """Rate an agent.

        Once per session, with its control token; this agent must have joined the session. A second rating of the
        same session, or one before the agent joined, is 409 `state_conflict`; a session with another agent is 403
        `not_authorized`.

        Needs: A session's control token.

        Args:
            agent_id: The id (agt_…).
            body: The request: stars.
            control_token: Of the session (sct_…). Default: that of the client.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The stored rating.

        Raises:
            AtriumError: NotAuthorizedError, StateConflictError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError, IdempotencyInProgressError.

        Example:
            answer = atrium.rate_agent("agt_…", body={"stars": 5})
        """
        return self._call(
            Route("POST", "/agents/{agentId}/ratings", "control", keyed="rateAgent"),
            path={"agentId": agent_id},
            body=body,
            control_token=control_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def register_agent(
        self,
        *,
        body: types.AgentRegistration,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Agent]:
        """Register an agent.

        A hosted agent runs here with the provider key of its tenant; without `model` it uses the built-in echo
        model. A remote agent has an `endpoint`, which receives a signed request at each launch, and joins by
        itself. Both fields together are 400.

        A new agent is a `draft`. Registration is free unless this installation sets a fee. The fee is debited from
        the tenant’s issuer balance, so the tenant needs the issuer role and a `prefund` checkout first. If the
        balance is too low, the answer is 402.

        Needs: A secret key.

        Args:
            body: The request: name, description, instructions, price_credits, max_minutes, credits_per_1k_tokens
                (optional), credits_per_tool_call (optional), model (optional), endpoint (optional), encryption_key
                (optional), tools (optional), greeting (optional), avatar_url (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The agent.

        Raises:
            AtriumError: InsufficientCreditError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.register_agent(body={
                "name": "Lamplighter",
                "description": "Tells the story of every lamp in the harbour.",
                "instructions": "You are an old lamplighter. Answer briefly and kindly.",
                "model": {"provider": "anthropic", "id": "claude-sonnet-4-5"},
                "tools": [
                    {
                        "name": "find_lamp",
                        "description": "Finds a lamp by its number.",
                        "parameters": {
                            "type": "object",
                            "properties": {"number": {"type": "integer"}},
                            "required": ["number"],
                        },
                        "url": "https://lamps.example/tools/find",
                        "secret": "…",
                    },
                ],
                "price_credits": 5,
                "max_minutes": 30,
            })
        """
        return self._call(
            Route("POST", "/agents", "secret", keyed="registerAgent"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_agents(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Agent], types.Agent]:
        """List your agents.

        The agents of this tenant, oldest first, whatever their status.

        Needs: A secret key.

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
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_agents()
        """
        return self._page(
            Route("GET", "/agents", "secret"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_agent(
        self,
        agent_id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Agent]:
        """Read an agent.

        An agent of this tenant. Secrets are not returned.

        Needs: A secret key.

        Args:
            agent_id: The id (agt_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The agent.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError.

        Example:
            answer = atrium.get_agent("agt_…")
        """
        return self._call(
            Route("GET", "/agents/{agentId}", "secret"),
            path={"agentId": agent_id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def update_agent(
        self,
        agent_id: str,
        *,
        body: types.AgentPatch,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Agent]:
        """Change an agent.

        Changes only the fields that are sent. `tools` replaces the whole list. A tool that is sent without a secret
        and keeps its name or MCP address keeps its secret, unless its `url` now has another origin: then the secret
        is removed and `has_secret` is false. Running sessions keep the configuration of their launch: they use a
        new secret of a tool from the next answer on, only for the origin that it was set for, and keep that of a
        tool that is no longer on the list. Stop the session to end that.

        Needs: A secret key.

        Args:
            agent_id: The id (agt_…).
            body: The request: name (optional), description (optional), instructions (optional), price_credits
                (optional), credits_per_1k_tokens (optional), credits_per_tool_call (optional), max_minutes
                (optional), model (optional), endpoint (optional), encryption_key (optional), tools (optional),
                greeting (optional), avatar_url (optional), rotate_signing_secret (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The agent.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.update_agent("agt_…", body={"price_credits": 8, "greeting": None})
        """
        return self._call(
            Route("PATCH", "/agents/{agentId}", "secret"),
            path={"agentId": agent_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def set_agent_status(
        self,
        agent_id: str,
        *,
        body: types.SetAgentStatusBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Agent]:
        """Set the status of an agent.

        active: in the catalog, launchable by every tenant. private: launchable only by its own tenant. draft: not
        launchable. The owner can move freely between these three. Only an operator sets and lifts `suspended` and
        `pending`; until then the answer is 409 `state_conflict`.

        Needs: A secret key.

        Args:
            agent_id: The id (agt_…).
            body: The request: status.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The agent.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.set_agent_status("agt_…", body={"status": "active"})
        """
        return self._call(
            Route("PUT", "/agents/{agentId}/status", "secret"),
            path={"agentId": agent_id},
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_agent_tools(
        self,
        agent_id: str,
        *,
        control_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ListAgentToolsData]:
        """Tools of the agent in a session.

        Needs the control token of a session with this agent; another agent is 403 `not_authorized`. Secrets are not
        returned.

        Needs: A session's control token.

        Args:
            agent_id: The id (agt_…).
            control_token: Of the session (sct_…). Default: that of the client.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The tools.

        Raises:
            AtriumError: NotAuthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, NotFoundError.

        Example:
            answer = atrium.list_agent_tools("agt_…")
        """
        return self._call(
            Route("GET", "/agents/{agentId}/tools", "control"),
            path={"agentId": agent_id},
            control_token=control_token,
            repeatable=repeatable,
            timeout=timeout,
        )
