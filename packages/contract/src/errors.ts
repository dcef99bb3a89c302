/** Every error code of the API: its status, cause and remedy. Each becomes one documentation page. */
export const errors = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    cause: 'A field is missing, unknown, of the wrong type or over its limit, or the JSON itself is broken.',
    remedy: 'Read error.details: each entry names the field and what is wrong with it. Do not retry unchanged.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor does not belong to this list',
    cause: 'A cursor is opaque and valid only for the list (and the collection) that returned it as meta.next_cursor.',
    remedy: 'Start again without a cursor, and pass next_cursor back exactly as it came.',
  },
  idempotency_key_required: {
    status: 400,
    title: 'An Idempotency-Key header is required',
    cause: 'The operation bills or creates something that must not happen twice.',
    remedy: 'Send Idempotency-Key with a fresh random value, such as a UUID, and repeat the same value on a retry.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid credential',
    cause: 'The key is missing, malformed, unknown, expired or revoked.',
    remedy: 'Send an active key as "Authorization: Bearer wsk_…" or as "X-API-Key". A mistyped key fails its checksum.',
  },
  tenant_suspended: {
    status: 401,
    title: 'The tenant is suspended',
    cause:
      'An operator suspended the tenant, which disables all its keys, stops its sessions and hides its share pages, ' +
      'walls and media.',
    remedy: 'Contact the operator of this installation.',
  },
  secret_key_in_browser: {
    status: 401,
    title: 'A secret key came from a browser',
    cause:
      'The request contains Sec-Fetch-Site, which only browsers send. Everyone who opens a page can read a secret ' +
      'key in it.',
    remedy: 'Use the publishable key (wpk_…) in the browser and revoke the secret key that leaked.',
  },
  no_console_session: {
    status: 401,
    title: 'There is no session of the console',
    cause:
      'The session has ended: it was signed out, was not used for 12 hours, is older than 7 days, or the member was ' +
      'removed.',
    remedy: 'Sign in to the console again.',
  },
  insufficient_credit: {
    status: 402,
    title: 'Not enough credit',
    cause: 'The wallet, coupon or balance holds less than the price.',
    remedy: 'Add credits and try again. Nothing was charged.',
  },
  secret_key_required: {
    status: 403,
    title: 'This operation needs a secret key',
    cause: 'A publishable key was sent to an operation that only servers may call.',
    remedy: 'Call it from your server with the secret key (wsk_…).',
  },
  csrf_required: {
    status: 403,
    title: 'The request does not prove that it comes from the console',
    cause: 'The cookie of a console session was sent, and X-Atrium-CSRF is missing or belongs to another session.',
    remedy: 'Send the `csrf` of GET /console/session as X-Atrium-CSRF. A program sends a key in Authorization instead.',
  },
  role_not_allowed: {
    status: 403,
    title: 'The role of this member does not allow it',
    cause: 'The operation is called by a session of the console, and is for other roles.',
    remedy: 'Ask an owner of the tenant to do it, or to change the role.',
  },
  console_link_invalid: {
    status: 403,
    title: 'The link to the console is not valid',
    cause: 'A link signs in once. It was used, has expired, or was replaced by a new one.',
    remedy: 'Ask for a new link. An operator makes one with `atrium console-link`.',
  },
  owner_token_required: {
    status: 403,
    title: 'This operation needs the owner token of the collection',
    cause: 'X-Collection-Token is missing or is not the admin token of this collection.',
    remedy: 'Send the admin_token that creating the collection returned.',
  },
  contributor_token_required: {
    status: 403,
    title: 'This collection takes items only with a contributor token',
    cause: 'Its contributor_policy is token, and no valid contributor or owner token was sent.',
    remedy: 'Send the contributor_token or admin_token in X-Collection-Token.',
  },
  issuer_role_required: {
    status: 403,
    title: 'The tenant does not hold the issuer role',
    cause: 'Only issuers can grant credits and publish epochs.',
    remedy: 'Ask the operator of this installation for the role.',
  },
  not_authorized: {
    status: 403,
    title: 'The presented identity is not authorized',
    cause:
      'error.reason, if there is one, says which check failed, such as unsigned, token: …, nonce_mismatch, not_on_list, ' +
      'revoked, or expired for the address of a file. Without it, error.message says why: the control token is of another ' +
      'session or party, for example, or the agent is suspended.',
    remedy:
      'If an identity was refused, sign in again and send a fresh X-Id-Token with its X-Spk, or ask the owner to add the ' +
      'account to the list. Otherwise do what error.message says.',
  },
  invite_invalid: {
    status: 403,
    title: 'The invite is not valid',
    cause: 'The invite code is unknown, used up or expired.',
    remedy: 'Ask the operator of this installation for a new invite.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    cause:
      'The path or the id does not exist, was deleted, or belongs to another tenant. The response is the same in ' +
      'all three cases.',
    remedy: 'Check the id, the path and the HTTP method against the reference.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    cause: 'Headers must arrive within 10 seconds and the whole request within 30.',
    remedy: 'Send the request again over a faster connection.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used with another body',
    cause: 'An earlier request to the same path used the key with a different body or other query parameters.',
    remedy: 'Use a new key for a new request; a retry must repeat the query, and the body byte for byte.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still running',
    cause: 'A repeat waits five seconds for the first request, which did not finish in that time.',
    remedy: 'Wait for Retry-After seconds and repeat the request.',
  },
  state_conflict: {
    status: 409,
    title: 'The state does not allow this',
    cause: 'The requested state cannot be reached from the current one. A collection only moves forward: open, ready, closed.',
    remedy: 'Read the current state and continue from there.',
  },
  collection_not_open: {
    status: 409,
    title: 'The collection no longer accepts items',
    cause: 'Items can be added only while its state is open.',
    remedy: 'Tell your user that it has closed; nothing was stored.',
  },
  upload_mismatch: {
    status: 409,
    title: 'The uploaded object is not what was announced',
    cause:
      'No bytes have arrived yet, or their length, hash or real type differs from the announced one. Bytes that differ ' +
      'were removed.',
    remedy:
      'If none have arrived, send all of them to the address of the upload, until its expires_at, and call ready again. ' +
      'If they differ, the artifact is failed: begin a new upload and announce exactly what you send.',
  },
  price_changed: {
    status: 409,
    title: 'The price is not the one that was agreed to',
    cause:
      'The agent costs more than max_price_credits, or more than when the launch was prepared; or no limit was ' +
      'sent and the price was raised in the last ten minutes.',
    remedy:
      'Nothing was charged. error.details contains both prices. Show the buyer the new one, and launch with it as ' +
      'max_price_credits. A pending launch must be prepared again.',
  },
  already_spent: {
    status: 409,
    title: 'Already redeemed',
    cause: 'A token or license key can be redeemed for a wallet only once.',
    remedy: 'If you did not receive the first answer and sent a recovery_key, error.details contains the sealed wallet code.',
  },
  last_secret_key: {
    status: 409,
    title: 'The last active secret key cannot be revoked',
    cause: 'Without a secret key nobody could manage the tenant.',
    remedy: 'Create a new secret key first, then revoke this one with it.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'A JSON body may have at most 256 KiB.',
    remedy: 'Send at most 256 KiB of JSON. Upload files as artifacts: their bytes are not part of a JSON body.',
  },
  quota_exceeded: {
    status: 413,
    title: 'The quota of stored or uploaded bytes is used up',
    cause:
      "Either the tenant's artifacts and announced uploads would exceed its quota, or, with a publishable key, " +
      'this IP address has reached its daily limit of uploaded bytes. The message names the limit.',
    remedy:
      'For the quota, delete artifacts or ask the operator of this installation for more. For the daily limit, ' +
      'wait until Retry-After, or upload from your server with the secret key.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    cause: 'A rate limit was reached. The RateLimit and RateLimit-Policy headers name it.',
    remedy: 'Wait for Retry-After seconds. Spread calls out, and retry with exponential backoff and jitter.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    cause: 'All headers together may take 16 KiB.',
    remedy: 'Send smaller headers.',
  },
  internal_error: {
    status: 500,
    title: 'Internal server error',
    cause: 'The server failed unexpectedly. The error is logged under the request id.',
    remedy: 'Retry with the same Idempotency-Key. If the error persists, report error.request_id.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    cause:
      'A service that this operation needs cannot be reached, is overloaded or is not configured; or another ' +
      'request locked the same rows for too long. Nothing was changed, unless error.reason is outcome_unknown: ' +
      'then the database did not confirm in time whether the request took effect. With error.reason restore_unconfirmed, ' +
      'the installation was restored from a backup, and its operator has not confirmed that yet.',
    remedy: 'Wait for Retry-After seconds and repeat the request, with the same Idempotency-Key where there is one.',
  },
} as const satisfies Record<string, ErrorEntry>

interface ErrorEntry {
  status: number
  title: string
  cause: string
  remedy: string
}

export type ErrorCode = keyof typeof errors

/** One problem of a request: its place (a JSON Pointer into the body or the query, or the name of a header) and a message. */
export interface ErrorDetail {
  path: string
  message: string
  /** Only with already_spent after a recovery_key: the wallet code, sealed to that key as a compact JWE. */
  sealed?: string
  /** Only with price_changed: the current price of the agent, in whole credits. */
  price_credits?: number
  /** Only with price_changed: the highest price that the buyer agreed to, in whole credits. */
  agreed_price_credits?: number
}

/** The body of every error response. */
export interface ErrorBody {
  error: {
    code: ErrorCode
    message: string
    /** The page about the code: its cause and its remedy. */
    doc_url: string
    request_id?: string
    reason?: string
    details?: ErrorDetail[]
  }
}
