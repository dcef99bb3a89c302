// Written by scripts/client-tables.ts out of packages/contract/src/errors.ts and the flat errors of its operations.
import { AtriumError } from './atrium-error.ts'

/** 400: The request is not valid. */
export class InvalidRequestError extends AtriumError {
  override readonly name = 'InvalidRequestError'
  declare readonly code: 'invalid_request'
}

/** 400: The cursor does not belong to this list. */
export class InvalidCursorError extends AtriumError {
  override readonly name = 'InvalidCursorError'
  declare readonly code: 'invalid_cursor'
}

/** 400: An Idempotency-Key header is required. */
export class IdempotencyKeyRequiredError extends AtriumError {
  override readonly name = 'IdempotencyKeyRequiredError'
  declare readonly code: 'idempotency_key_required'
}

/** 401: No valid credential. */
export class UnauthorizedError extends AtriumError {
  override readonly name = 'UnauthorizedError'
  declare readonly code: 'unauthorized'
}

/** 401: The tenant is suspended. */
export class TenantSuspendedError extends AtriumError {
  override readonly name = 'TenantSuspendedError'
  declare readonly code: 'tenant_suspended'
}

/** 401: A secret key came from a browser. */
export class SecretKeyInBrowserError extends AtriumError {
  override readonly name = 'SecretKeyInBrowserError'
  declare readonly code: 'secret_key_in_browser'
}

/** 401: There is no session of the console. */
export class NoConsoleSessionError extends AtriumError {
  override readonly name = 'NoConsoleSessionError'
  declare readonly code: 'no_console_session'
}

/** 402: Not enough credit. */
export class InsufficientCreditError extends AtriumError {
  override readonly name = 'InsufficientCreditError'
  declare readonly code: 'insufficient_credit'
}

/** 403: This operation needs a secret key. */
export class SecretKeyRequiredError extends AtriumError {
  override readonly name = 'SecretKeyRequiredError'
  declare readonly code: 'secret_key_required'
}

/** 403: The request does not prove that it comes from the console. */
export class CsrfRequiredError extends AtriumError {
  override readonly name = 'CsrfRequiredError'
  declare readonly code: 'csrf_required'
}

/** 403: The role of this member does not allow it. */
export class RoleNotAllowedError extends AtriumError {
  override readonly name = 'RoleNotAllowedError'
  declare readonly code: 'role_not_allowed'
}

/** 403: The link to the console is not valid. */
export class ConsoleLinkInvalidError extends AtriumError {
  override readonly name = 'ConsoleLinkInvalidError'
  declare readonly code: 'console_link_invalid'
}

/** 403: This operation needs the owner token of the collection. */
export class OwnerTokenRequiredError extends AtriumError {
  override readonly name = 'OwnerTokenRequiredError'
  declare readonly code: 'owner_token_required'
}

/** 403: This collection takes items only with a contributor token. */
export class ContributorTokenRequiredError extends AtriumError {
  override readonly name = 'ContributorTokenRequiredError'
  declare readonly code: 'contributor_token_required'
}

/** 403: The tenant does not hold the issuer role. */
export class IssuerRoleRequiredError extends AtriumError {
  override readonly name = 'IssuerRoleRequiredError'
  declare readonly code: 'issuer_role_required'
}

/** 403: The presented identity is not authorized. */
export class NotAuthorizedError extends AtriumError {
  override readonly name = 'NotAuthorizedError'
  declare readonly code: 'not_authorized'
}

/** 403: The invite is not valid. */
export class InviteInvalidError extends AtriumError {
  override readonly name = 'InviteInvalidError'
  declare readonly code: 'invite_invalid'
}

/** 404: Not found. */
export class NotFoundError extends AtriumError {
  override readonly name = 'NotFoundError'
  declare readonly code: 'not_found'
}

/** 408: The request took too long to arrive. */
export class RequestTimeoutError extends AtriumError {
  override readonly name = 'RequestTimeoutError'
  declare readonly code: 'request_timeout'
}

/** 409: The Idempotency-Key was used with another body. */
export class IdempotencyKeyReusedError extends AtriumError {
  override readonly name = 'IdempotencyKeyReusedError'
  declare readonly code: 'idempotency_key_reused'
}

/** 409: The first request with this Idempotency-Key is still running. */
export class IdempotencyInProgressError extends AtriumError {
  override readonly name = 'IdempotencyInProgressError'
  declare readonly code: 'idempotency_in_progress'
}

/** 409: The state does not allow this. */
export class StateConflictError extends AtriumError {
  override readonly name = 'StateConflictError'
  declare readonly code: 'state_conflict'
}

/** 409: The collection no longer accepts items. */
export class CollectionNotOpenError extends AtriumError {
  override readonly name = 'CollectionNotOpenError'
  declare readonly code: 'collection_not_open'
}

/** 409: The uploaded object is not what was announced. */
export class UploadMismatchError extends AtriumError {
  override readonly name = 'UploadMismatchError'
  declare readonly code: 'upload_mismatch'
}

/** 409: The price is not the one that was agreed to. */
export class PriceChangedError extends AtriumError {
  override readonly name = 'PriceChangedError'
  declare readonly code: 'price_changed'
}

/** 409: Already redeemed. */
export class AlreadySpentError extends AtriumError {
  override readonly name = 'AlreadySpentError'
  declare readonly code: 'already_spent'
}

/** 409: The last active secret key cannot be revoked. */
export class LastSecretKeyError extends AtriumError {
  override readonly name = 'LastSecretKeyError'
  declare readonly code: 'last_secret_key'
}

/** 413: The body is too large. */
export class PayloadTooLargeError extends AtriumError {
  override readonly name = 'PayloadTooLargeError'
  declare readonly code: 'payload_too_large'
}

/** 413: The quota of stored or uploaded bytes is used up. */
export class QuotaExceededError extends AtriumError {
  override readonly name = 'QuotaExceededError'
  declare readonly code: 'quota_exceeded'
}

/** 429: Too many requests. */
export class RateLimitedError extends AtriumError {
  override readonly name = 'RateLimitedError'
  declare readonly code: 'rate_limited'
}

/** 431: The request headers are too large. */
export class HeadersTooLargeError extends AtriumError {
  override readonly name = 'HeadersTooLargeError'
  declare readonly code: 'headers_too_large'
}

/** 500: Internal server error. */
export class InternalError extends AtriumError {
  override readonly name = 'InternalError'
  declare readonly code: 'internal_error'
}

/** 503: Temporarily unavailable. */
export class UnavailableError extends AtriumError {
  override readonly name = 'UnavailableError'
  declare readonly code: 'unavailable'
}

/** 409: The room exists already. client_sealed: its lines are sealed by the clients, and it has the ops make, read and append alone. server_sealed: it has the other ops. list_changed: the list of devices is no longer the one that the line follows. */
export class RoomExistsError extends AtriumError {
  override readonly name = 'RoomExistsError'
  declare readonly code: 'room_exists'
}

/** No answer came: the server could not be reached, or not in time. */
export class NetworkError extends AtriumError {
  override readonly name = 'NetworkError'
  declare readonly code: 'network_error'
}

/** The answer is not from the API, but for example from a proxy in front of it. */
export class UnexpectedAnswerError extends AtriumError {
  override readonly name = 'UnexpectedAnswerError'
  declare readonly code: 'unexpected_answer'
}

/** By code. */
export const errorClasses = {
  invalid_request: InvalidRequestError,
  invalid_cursor: InvalidCursorError,
  idempotency_key_required: IdempotencyKeyRequiredError,
  unauthorized: UnauthorizedError,
  tenant_suspended: TenantSuspendedError,
  secret_key_in_browser: SecretKeyInBrowserError,
  no_console_session: NoConsoleSessionError,
  insufficient_credit: InsufficientCreditError,
  secret_key_required: SecretKeyRequiredError,
  csrf_required: CsrfRequiredError,
  role_not_allowed: RoleNotAllowedError,
  console_link_invalid: ConsoleLinkInvalidError,
  owner_token_required: OwnerTokenRequiredError,
  contributor_token_required: ContributorTokenRequiredError,
  issuer_role_required: IssuerRoleRequiredError,
  not_authorized: NotAuthorizedError,
  invite_invalid: InviteInvalidError,
  not_found: NotFoundError,
  request_timeout: RequestTimeoutError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  idempotency_in_progress: IdempotencyInProgressError,
  state_conflict: StateConflictError,
  collection_not_open: CollectionNotOpenError,
  upload_mismatch: UploadMismatchError,
  price_changed: PriceChangedError,
  already_spent: AlreadySpentError,
  last_secret_key: LastSecretKeyError,
  payload_too_large: PayloadTooLargeError,
  quota_exceeded: QuotaExceededError,
  rate_limited: RateLimitedError,
  headers_too_large: HeadersTooLargeError,
  internal_error: InternalError,
  unavailable: UnavailableError,
  room_exists: RoomExistsError,
  network_error: NetworkError,
  unexpected_answer: UnexpectedAnswerError,
} as const
