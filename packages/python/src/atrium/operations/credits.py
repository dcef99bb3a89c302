"""Operations: Credits."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class CreditsOperations(Core):
    """Credits: see /docs of your installation for the guides."""

    def list_movements(
        self,
        *,
        kind: Literal["prefund", "sale", "redemption", "grant", "return", "fee", "hold", "capture", "release", "refund", "loss"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListMovementsDataEntry], types.ListMovementsDataEntry]:
        """List the movements of issued credits.

        Needs the issuer role. Every movement of credits from or to what the tenant issued: its balance, and the
        license keys, wallets and coupons that came from it, newest first. An account is named by its kind alone:
        neither a code, nor which wallet or coupon it is, nor where it was spent is part of the answer, so an issuer
        cannot follow a person. A call reads a bounded number of movements: with filters a page may hold fewer than
        `limit`, or none, and still have a next_cursor.

        Needs: A secret key. The tenant must hold the issuer role.

        Args:
            kind: prefund, sale: a payment for the balance or for a license key. redemption: a license key or token
                became a wallet. grant: a coupon. return: the rest of an expired coupon. fee: of the installation.
                hold: set aside for a session or a painting; capture and release end it. refund: taken back because
                its payment was returned (from the platform: given back because a dispute was won). loss: the part
                of it that was spent or held (from the loss account: what of it was recovered).
            from_: Created at this time or later.
            to: Created before this time.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of movements.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, IssuerRoleRequiredError.

        Example:
            answer = atrium.list_movements()
        """
        return self._page(
            Route("GET", "/v1/wallets/movements", "secret"),
            query={"kind": kind, "from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_issuer_balance(
        self,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GetIssuerBalanceData]:
        """Read the issuer's balance.

        Needs the issuer role. What is left of the credits that the tenant has prefunded: grants, fees and redeemed
        tokens of its epochs take from it. What its agents earned is not part of it (`GET /earnings`).

        Needs: A secret key. The tenant must hold the issuer role.

        Args:
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The balance.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, IssuerRoleRequiredError.

        Example:
            answer = atrium.get_issuer_balance()
        """
        return self._call(
            Route("GET", "/v1/wallets/issuer", "secret"),
            repeatable=repeatable,
            timeout=timeout,
        )

    def look_up_wallet(
        self,
        *,
        body: types.LookUpWalletBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.LookUpWalletData]:
        """Read the balance of a wallet.

        The wallet code is sent in the body, never in a URL. A coupon is accepted in its place. `balance` can be
        spent now; `held` is reserved by open holds. An empty account is 404, like a code that never existed; the
        answer does not distinguish them. A code is valid with every tenant of the installation.

        Needs: A publishable or a secret key.

        Args:
            body: The request: wallet_code.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The balance.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                PayloadTooLargeError.

        Example:
            answer = atrium.look_up_wallet(body={"wallet_code": "wlt_…"})
        """
        return self._call(
            Route("POST", "/v1/wallets/lookup", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def redeem_wallet(
        self,
        *,
        body: types.LicenseRedemption | types.TokenRedemption,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.RedeemWalletData]:
        """Redeem a license key or a token.

        Creates a wallet, whose code is returned only in this answer. The redeemed key or token is itself the
        idempotency key: a repeat is 409 `already_spent` and never creates a second wallet, so do not send
        Idempotency-Key.

        With `recovery_key`, a repeat with the same key gets the wallet code in error.details, sealed to that key
        (compact JWE), so a response that is lost in transit loses no money.

        An unknown license key or epoch is 404; a signature that does not verify, an expired epoch or an encoding
        that is not canonical is 400. If the issuer’s balance does not cover the token, the answer is 402 and the
        token stays valid.

        Needs: A publishable or a secret key.

        Args:
            body: The request; its type says what it holds.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The wallet.

        Raises:
            AtriumError: AlreadySpentError, NotFoundError, InsufficientCreditError, InvalidRequestError,
                RateLimitedError, InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError,
                UnauthorizedError, TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError.

        Example:
            answer = atrium.redeem_wallet(body={"license_key": "lic_…"})
        """
        return self._call(
            Route("POST", "/v1/wallets/redeem", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def grant_coupon(
        self,
        *,
        body: types.GrantCouponBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.GrantCouponData]:
        """Grant a coupon.

        Needs the issuer role. Moves credits from the wallet, or without one from the issuer's balance, into a
        coupon that pays for sessions and paintings. What remains when it expires returns to its source.

        A coupon is accepted in place of the wallet; a coupon paid by one that expires never outlives it: without
        `expires_at`, or with a later one, it expires with the paying coupon, and the answer contains that time as
        `expires_at`.

        An unknown wallet code is 404.

        An Idempotency-Key never grants twice, even after its stored answer has expired: then the answer is 409
        `idempotency_key_reused`.

        Needs: A secret key. The tenant must hold the issuer role.

        Args:
            body: The request: amount, wallet_code (optional), expires_at (optional), memo (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The coupon.

        Raises:
            AtriumError: InsufficientCreditError, NotFoundError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, IssuerRoleRequiredError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError, IdempotencyKeyRequiredError.

        Example:
            answer = atrium.grant_coupon(body={
                "amount": 5,
                "wallet_code": "wlt_…",
                "memo": "One evening with the lamplighter",
            })
        """
        return self._call(
            Route("POST", "/v1/wallets/grant", "secret", keyed="grantCoupon", billed=True),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_receipts(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListReceiptsDataEntry], types.ListReceiptsDataEntry]:
        """List the receipts.

        One receipt for each session, budget and painting that was settled, charged or not, and for each grant and
        sale of the tenant, newest first. A receipt is written in the transaction of its settlement and never
        changes. `seq` numbers the receipts of a tenant from 1 on, without a gap, so a copy of all of them can be
        checked for completeness. Any JOSE library verifies one. Its signature is made when it is read, so two
        copies of a receipt may differ in it, and in `kid`.

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
            200: A page of receipts.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_receipts()
        """
        return self._page(
            Route("GET", "/v1/receipts", "secret"),
            query={"from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def look_up_receipts(
        self,
        *,
        body: types.LookUpReceiptsBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.LookUpReceiptsDataEntry], types.LookUpReceiptsDataEntry]:
        """List the receipts of a payer.

        The receipts of what this wallet or coupon has paid, at any tenant of the installation, newest first. The
        code is sent in the body, never in a URL. It may be spent. A code that never existed has no receipts.

        Needs: A publishable or a secret key.

        Args:
            body: The request: wallet_code, limit (optional), cursor (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of receipts.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                PayloadTooLargeError.

        Example:
            answer = atrium.look_up_receipts(body={"wallet_code": "wlt_…"})
        """
        return self._page(
            Route("POST", "/v1/receipts/lookup", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def prove_balances(
        self,
        *,
        day: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ProveBalancesData]:
        """Prove that the balances are in the books.

        Once a day, all balances become the leaves of a Merkle tree of sums, whose root is in the transparency log
        with the credits in circulation. A proof shows that a balance is part of that total. The hash of a leaf is
        SHA-256 of a zero byte, the salt, the balance in 64 bits (most significant first) and the name of the
        account. The hash of a node is SHA-256 of the byte 1 and, for its left and then its right child, the sum in
        64 bits and the hash. No sum is negative. The accounts are the prefunded balance of the tenant, what is held
        from it, and its earnings.

        Needs: A secret key.

        Args:
            day: UTC. Default: the last day with a root.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The root and the proofs.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.prove_balances()
        """
        return self._call(
            Route("GET", "/v1/books/proof", "secret"),
            query={"day": day},
            repeatable=repeatable,
            timeout=timeout,
        )

    def look_up_balance_proofs(
        self,
        *,
        body: types.LookUpBalanceProofsBody,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.LookUpBalanceProofsData]:
        """Prove that a wallet is in the books.

        Once a day, all balances become the leaves of a Merkle tree of sums, whose root is in the transparency log
        with the credits in circulation. A proof shows that a balance is part of that total. The hash of a leaf is
        SHA-256 of a zero byte, the salt, the balance in 64 bits (most significant first) and the name of the
        account. The hash of a node is SHA-256 of the byte 1 and, for its left and then its right child, the sum in
        64 bits and the hash. No sum is negative. The accounts are the wallet or coupon and what is held from it.
        The code is sent in the body, never in a URL. A code that never existed has no proofs.

        Needs: A publishable or a secret key.

        Args:
            body: The request: wallet_code, day (optional).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The root and the proofs.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                PayloadTooLargeError.

        Example:
            answer = atrium.look_up_balance_proofs(body={"wallet_code": "wlt_…"})
        """
        return self._call(
            Route("POST", "/v1/books/proof/lookup", "publishable"),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )

    def publish_epoch(
        self,
        *,
        body: types.PublishEpochBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.PublishEpochData]:
        """Publish a batch's public key.

        Needs the issuer role. Tokens signed by the matching private key become redeemable
        (RSABSSA-SHA384-PSS-Randomized, RFC 9474, salt of 48 bytes), each for `value` credits out of the issuer's
        balance. An epoch cannot be changed: a key that any tenant has published is 409 `state_conflict`; to rotate,
        publish a new epoch. Tokens can be redeemed until the epoch expires. Only `kty`, `n` and `e` of the JWK are
        stored; the id is computed from them.

        Needs: A secret key. The tenant must hold the issuer role.

        Args:
            body: The request: public_key, value, expires_at (optional).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The id of the epoch.

        Raises:
            AtriumError: StateConflictError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, IssuerRoleRequiredError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.publish_epoch(body={
                "public_key": {
                    "kty": "RSA",
                    "n": "u3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3Qcu3QcQw",
                    "e": "AQAB",
                },
                "value": 10,
            })
        """
        return self._call(
            Route("POST", "/v1/epochs", "secret", keyed="publishEpoch"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_epochs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Epoch], types.Epoch]:
        """List epochs.

        Public and identical for every caller, so that anyone can check that all buyers get the same keys. Oldest
        first.

        Needs: No key.

        Args:
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of epochs.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError.

        Example:
            answer = atrium.list_epochs()
        """
        return self._page(
            Route("GET", "/v1/epochs", "anyone"),
            query={"limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_epoch(
        self,
        epoch: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Epoch]:
        """Read an epoch.

        Public and identical for every caller.

        Needs: No key.

        Args:
            epoch: The thumbprint (RFC 7638) of the public key.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The epoch.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, NotFoundError.

        Example:
            answer = atrium.get_epoch("…")
        """
        return self._call(
            Route("GET", "/v1/epochs/{epoch}", "anyone"),
            path={"epoch": epoch},
            repeatable=repeatable,
            timeout=timeout,
        )

    def list_checkouts(
        self,
        *,
        status: Literal["open", "paid", "expired"] | None = None,
        purpose: Literal["license_key", "prefund"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.ListCheckoutsDataEntry], types.ListCheckoutsDataEntry]:
        """List the checkouts.

        The tenant's checkouts, newest first. The list has no license keys; `GET /checkout/{id}` returns the key. A
        call reads a bounded number of checkouts: with filters a page may hold fewer than `limit`, or none, and
        still have a next_cursor. A checkout that was paid or abandoned is deleted after the time that the
        installation sets; its movements are kept.

        Needs: A secret key.

        Args:
            status: Literal["open", "paid", "expired"].
            purpose: license_key: a key that can be redeemed for a wallet. prefund: credits for the issuer's
                balance.
            from_: Created at this time or later.
            to: Created before this time.
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of checkouts.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError.

        Example:
            answer = atrium.list_checkouts()
        """
        return self._page(
            Route("GET", "/v1/checkout", "secret"),
            query={"status": status, "purpose": purpose, "from": from_, "to": to, "limit": limit, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_checkout(
        self,
        *,
        body: types.CreateCheckoutBody,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateCheckoutData]:
        """Sell credits.

        Returns the URL of a payment page: Stripe Checkout if this installation has a Stripe key, else a built-in
        page that is marked as test mode (in production the answer is 503 until Stripe is configured). The page
        redirects the buyer to success_url, with `checkout_id` added to its query, or to cancel_url. A checkout can
        be paid for 24 hours. `prefund` needs the issuer role.

        Needs: A secret key.

        Args:
            body: The request: purpose, credits, success_url, cancel_url.
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The checkout.

        Raises:
            AtriumError: IssuerRoleRequiredError, InvalidRequestError, RateLimitedError, InternalError,
                UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_checkout(body={
                "purpose": "license_key",
                "credits": 100,
                "success_url": "https://harbour.example/thanks",
                "cancel_url": "https://harbour.example/shop",
            })
        """
        return self._call(
            Route("POST", "/v1/checkout", "secret", keyed="createCheckout"),
            body=body,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_checkout(
        self,
        id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Checkout]:
        """Read a checkout.

        Every answer from the payment until the redemption contains the license key, so a response that is lost in
        transit loses nothing. Redemption erases the key. An expired checkout still becomes `paid` if the payment
        arrives late. While a payment is being processed, the checkout stays `open`.

        Needs: A secret key.

        Args:
            id: The id (chk_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The checkout.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, SecretKeyRequiredError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError.

        Example:
            answer = atrium.get_checkout("chk_…")
        """
        return self._call(
            Route("GET", "/v1/checkout/{id}", "secret"),
            path={"id": id},
            repeatable=repeatable,
            timeout=timeout,
        )
