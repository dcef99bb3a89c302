"""A class for each error code. All extend AtriumError."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from ._atrium_error import AtriumError as AtriumError


class InvalidRequestError(AtriumError):
    """400: The request is not valid.

    A field is missing, unknown, of the wrong type or over its limit, or the JSON itself is broken.

    Read error.details: each entry names the field and what is wrong with it. Do not retry unchanged.
    """


class InvalidCursorError(AtriumError):
    """400: The cursor does not belong to this list.

    A cursor is opaque and valid only for the list (and the collection) that returned it as meta.next_cursor.

    Start again without a cursor, and pass next_cursor back exactly as it came.
    """


class IdempotencyKeyRequiredError(AtriumError):
    """400: An Idempotency-Key header is required.

    The operation bills or creates something that must not happen twice.

    Send Idempotency-Key with a fresh random value, such as a UUID, and repeat the same value on a retry.
    """


class UnauthorizedError(AtriumError):
    """401: No valid credential.

    The key is missing, malformed, unknown, expired or revoked.

    Send an active key as "Authorization: Bearer wsk_…" or as "X-API-Key". A mistyped key fails its checksum.
    """


class TenantSuspendedError(AtriumError):
    """401: The tenant is suspended.

    An operator suspended the tenant, which disables all its keys, stops its sessions and hides its share pages,
    walls and media.

    Contact the operator of this installation.
    """


class SecretKeyInBrowserError(AtriumError):
    """401: A secret key came from a browser.

    The request contains Sec-Fetch-Site, which only browsers send. Everyone who opens a page can read a secret key
    in it.

    Use the publishable key (wpk_…) in the browser and revoke the secret key that leaked.
    """


class NoConsoleSessionError(AtriumError):
    """401: There is no session of the console.

    The session has ended: it was signed out, was not used for 12 hours, is older than 7 days, or the member was
    removed.

    Sign in to the console again.
    """


class InsufficientCreditError(AtriumError):
    """402: Not enough credit.

    The wallet, coupon or balance holds less than the price.

    Add credits and try again. Nothing was charged.
    """


class SecretKeyRequiredError(AtriumError):
    """403: This operation needs a secret key.

    A publishable key was sent to an operation that only servers may call.

    Call it from your server with the secret key (wsk_…).
    """


class CsrfRequiredError(AtriumError):
    """403: The request does not prove that it comes from the console.

    The cookie of a console session was sent, and X-Atrium-CSRF is missing or belongs to another session.

    Send the `csrf` of GET /console/session as X-Atrium-CSRF. A program sends a key in Authorization instead.
    """


class RoleNotAllowedError(AtriumError):
    """403: The role of this member does not allow it.

    The operation is called by a session of the console, and is for other roles.

    Ask an owner of the tenant to do it, or to change the role.
    """


class ConsoleLinkInvalidError(AtriumError):
    """403: The link to the console is not valid.

    A link signs in once. It was used, has expired, or was replaced by a new one.

    Ask for a new link. An operator makes one with `atrium console-link`.
    """


class OwnerTokenRequiredError(AtriumError):
    """403: This operation needs the owner token of the collection.

    X-Collection-Token is missing or is not the admin token of this collection.

    Send the admin_token that creating the collection returned.
    """


class ContributorTokenRequiredError(AtriumError):
    """403: This collection takes items only with a contributor token.

    Its contributor_policy is token, and no valid contributor or owner token was sent.

    Send the contributor_token or admin_token in X-Collection-Token.
    """


class IssuerRoleRequiredError(AtriumError):
    """403: The tenant does not hold the issuer role.

    Only issuers can grant credits and publish epochs.

    Ask the operator of this installation for the role.
    """


class NotAuthorizedError(AtriumError):
    """403: The presented identity is not authorized.

    error.reason, if there is one, says which check failed, such as unsigned, token: …, nonce_mismatch, not_on_list,
    revoked, or expired for the address of a file. Without it, error.message says why: the control token is of
    another session or party, for example, or the agent is suspended.

    If an identity was refused, sign in again and send a fresh X-Id-Token with its X-Spk, or ask the owner to add
    the account to the list. Otherwise do what error.message says.
    """


class InviteInvalidError(AtriumError):
    """403: The invite is not valid.

    The invite code is unknown, used up or expired.

    Ask the operator of this installation for a new invite.
    """


class NotFoundError(AtriumError):
    """404: Not found.

    The path or the id does not exist, was deleted, or belongs to another tenant. The response is the same in all
    three cases.

    Check the id, the path and the HTTP method against the reference.
    """


class RequestTimeoutError(AtriumError):
    """408: The request took too long to arrive.

    Headers must arrive within 10 seconds and the whole request within 30.

    Send the request again over a faster connection.
    """


class IdempotencyKeyReusedError(AtriumError):
    """409: The Idempotency-Key was used with another body.

    An earlier request to the same path used the key with a different body or other query parameters.

    Use a new key for a new request; a retry must repeat the query, and the body byte for byte.
    """


class IdempotencyInProgressError(AtriumError):
    """409: The first request with this Idempotency-Key is still running.

    A repeat waits five seconds for the first request, which did not finish in that time.

    Wait for Retry-After seconds and repeat the request.
    """


class StateConflictError(AtriumError):
    """409: The state does not allow this.

    The requested state cannot be reached from the current one. A collection only moves forward: open, ready,
    closed.

    Read the current state and continue from there.
    """


class CollectionNotOpenError(AtriumError):
    """409: The collection no longer accepts items.

    Items can be added only while its state is open.

    Tell your user that it has closed; nothing was stored.
    """


class UploadMismatchError(AtriumError):
    """409: The uploaded object is not what was announced.

    No bytes have arrived yet, or their length, hash or real type differs from the announced one. Bytes that differ
    were removed.

    If none have arrived, send all of them to the address of the upload, until its expires_at, and call ready again.
    If they differ, the artifact is failed: begin a new upload and announce exactly what you send.
    """


class PriceChangedError(AtriumError):
    """409: The price is not the one that was agreed to.

    The agent costs more than max_price_credits, or more than when the launch was prepared; or no limit was sent and
    the price was raised in the last ten minutes.

    Nothing was charged. error.details contains both prices. Show the buyer the new one, and launch with it as
    max_price_credits. A pending launch must be prepared again.
    """


class AlreadySpentError(AtriumError):
    """409: Already redeemed.

    A token or license key can be redeemed for a wallet only once.

    If you did not receive the first answer and sent a recovery_key, error.details contains the sealed wallet code.
    """


class LastSecretKeyError(AtriumError):
    """409: The last active secret key cannot be revoked.

    Without a secret key nobody could manage the tenant.

    Create a new secret key first, then revoke this one with it.
    """


class PayloadTooLargeError(AtriumError):
    """413: The body is too large.

    A JSON body may have at most 256 KiB.

    Send at most 256 KiB of JSON. Upload files as artifacts: their bytes are not part of a JSON body.
    """


class QuotaExceededError(AtriumError):
    """413: The quota of stored or uploaded bytes is used up.

    Either the tenant's artifacts and announced uploads would exceed its quota, or, with a publishable key, this IP
    address has reached its daily limit of uploaded bytes. The message names the limit.

    For the quota, delete artifacts or ask the operator of this installation for more. For the daily limit, wait
    until Retry-After, or upload from your server with the secret key.
    """


class RateLimitedError(AtriumError):
    """429: Too many requests.

    A rate limit was reached. The RateLimit and RateLimit-Policy headers name it.

    Wait for Retry-After seconds. Spread calls out, and retry with exponential backoff and jitter.
    """


class HeadersTooLargeError(AtriumError):
    """431: The request headers are too large.

    All headers together may take 16 KiB.

    Send smaller headers.
    """


class InternalError(AtriumError):
    """500: Internal server error.

    The server failed unexpectedly. The error is logged under the request id.

    Retry with the same Idempotency-Key. If the error persists, report error.request_id.
    """


class UnavailableError(AtriumError):
    """503: Temporarily unavailable.

    A service that this operation needs cannot be reached, is overloaded or is not configured; or another request
    locked the same rows for too long. Nothing was changed, unless error.reason is outcome_unknown: then the
    database did not confirm in time whether the request took effect. With error.reason restore_unconfirmed, the
    installation was restored from a backup, and its operator has not confirmed that yet.

    Wait for Retry-After seconds and repeat the request, with the same Idempotency-Key where there is one.
    """


class RoomExistsError(AtriumError):
    """409: The room exists already. client_sealed: its lines are sealed by the clients, and it has the ops make, read and append alone. server_sealed: it has the other ops. list_changed: the list of devices is no longer the one that the line follows."""


class NetworkError(AtriumError):
    """No answer came: the server could not be reached, or not in time."""


class UnexpectedAnswerError(AtriumError):
    """The answer is not from the API, but for example from a proxy in front of it."""


BY_CODE: dict[str, type[AtriumError]] = {
    "invalid_request": InvalidRequestError,
    "invalid_cursor": InvalidCursorError,
    "idempotency_key_required": IdempotencyKeyRequiredError,
    "unauthorized": UnauthorizedError,
    "tenant_suspended": TenantSuspendedError,
    "secret_key_in_browser": SecretKeyInBrowserError,
    "no_console_session": NoConsoleSessionError,
    "insufficient_credit": InsufficientCreditError,
    "secret_key_required": SecretKeyRequiredError,
    "csrf_required": CsrfRequiredError,
    "role_not_allowed": RoleNotAllowedError,
    "console_link_invalid": ConsoleLinkInvalidError,
    "owner_token_required": OwnerTokenRequiredError,
    "contributor_token_required": ContributorTokenRequiredError,
    "issuer_role_required": IssuerRoleRequiredError,
    "not_authorized": NotAuthorizedError,
    "invite_invalid": InviteInvalidError,
    "not_found": NotFoundError,
    "request_timeout": RequestTimeoutError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "state_conflict": StateConflictError,
    "collection_not_open": CollectionNotOpenError,
    "upload_mismatch": UploadMismatchError,
    "price_changed": PriceChangedError,
    "already_spent": AlreadySpentError,
    "last_secret_key": LastSecretKeyError,
    "payload_too_large": PayloadTooLargeError,
    "quota_exceeded": QuotaExceededError,
    "rate_limited": RateLimitedError,
    "headers_too_large": HeadersTooLargeError,
    "internal_error": InternalError,
    "unavailable": UnavailableError,
    "room_exists": RoomExistsError,
    "network_error": NetworkError,
    "unexpected_answer": UnexpectedAnswerError,
}
