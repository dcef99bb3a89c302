/** Every error code the API can answer, with its status and what a caller does about it. One documentation page is made of each. */
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
    cause: 'A cursor is opaque and good only for the list (and the collection) whose meta.next_cursor gave it.',
    remedy: 'Start again without a cursor, and pass meta.next_cursor back exactly as it came.',
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
    remedy: 'Send a living key as "Authorization: Bearer wsk_…" or as "X-API-Key". A mistyped key fails its checksum.',
  },
  tenant_suspended: {
    status: 401,
    title: 'The tenant is suspended',
    cause: 'An operator suspended the tenant, which stops all its keys.',
    remedy: 'Contact those who run this installation.',
  },
  secret_key_in_browser: {
    status: 401,
    title: 'A secret key came from a browser',
    cause:
      'The request bears Sec-Fetch-Site, which only browsers send. A secret key in a page can be read by everyone who opens it.',
    remedy: 'Use the publishable key (wpk_…) in the browser and revoke the secret key that leaked.',
  },
  insufficient_credit: {
    status: 402,
    title: 'Not enough credit',
    cause: 'The wallet, coupon or balance holds less than the price.',
    remedy: 'Fund it and try again; nothing was charged.',
  },
  secret_key_required: {
    status: 403,
    title: 'This operation needs a secret key',
    cause: 'A publishable key was sent to an operation that only servers may call.',
    remedy: 'Call it from your server with the secret key (wsk_…).',
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
    cause: 'Granting credits and publishing epochs is for issuers.',
    remedy: 'Ask those who run this installation for the role.',
  },
  not_authorized: {
    status: 403,
    title: 'The presented identity does not open this',
    cause: 'error.reason says which check failed: unsigned, token: …, nonce_mismatch, not_on_list or revoked.',
    remedy: 'Sign in again and send a fresh X-Id-Token with its X-Spk, or ask the owner to be put on the list.',
  },
  invite_invalid: {
    status: 403,
    title: 'The invite is not valid',
    cause: 'The invite code is unknown, used up or expired.',
    remedy: 'Ask those who run this installation for a new one.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here for you',
    cause: 'The path or the id does not exist, was deleted, or belongs to another tenant: the answer is the same.',
    remedy: 'Check the id, the path and the HTTP method against the reference.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    cause: 'Headers must arrive within 10 seconds and the whole request within 30.',
    remedy: 'Send it again over a connection that keeps up.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'The Idempotency-Key was used with another body',
    cause: 'The same key on the same path came earlier with a different request body.',
    remedy: 'Use a new key for a new request; a retry must repeat the body byte for byte.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key still runs',
    cause: 'It did not finish within the five seconds that a repeat waits for it.',
    remedy: 'Wait for Retry-After seconds and repeat the request.',
  },
  state_conflict: {
    status: 409,
    title: 'The state does not allow this',
    cause:
      'It is in a state from which the one asked for cannot be reached. A collection goes forward only: open, ready, closed.',
    remedy: 'Read the current state and go on from there.',
  },
  collection_not_open: {
    status: 409,
    title: 'The collection does not take items any more',
    cause: 'Items are added while its state is open.',
    remedy: 'Tell your user that it has closed; nothing was stored.',
  },
  upload_mismatch: {
    status: 409,
    title: 'The uploaded object is not what was announced',
    cause: 'It is missing, or its size, hash or real type differs from what the upload was made for. The object was removed.',
    remedy: 'Ask for a new upload and send exactly the announced bytes.',
  },
  price_changed: {
    status: 409,
    title: 'The price is not the one that was agreed to',
    cause:
      'The agent costs more than max_price_credits, or than it did when the room was armed; or no limit was sent and the price was raised in ' +
      'the last ten minutes.',
    remedy:
      'Nothing was charged. error.details holds both prices: show the buyer the new one, and launch with it as max_price_credits. An armed ' +
      'room has to be armed anew.',
  },
  already_spent: {
    status: 409,
    title: 'It was spent already',
    cause: 'A token or license key mints one wallet, once.',
    remedy: 'If your own earlier answer was lost and you sent a recovery_key, error.details holds the sealed wallet code.',
  },
  last_secret_key: {
    status: 409,
    title: 'The last living secret key cannot be revoked',
    cause: 'Without it the tenant could never be managed again.',
    remedy: 'Make a new secret key first, then revoke this one with it.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'JSON bodies go up to 256 KiB.',
    remedy: 'Send less; upload files through the artifact upload.',
  },
  quota_exceeded: {
    status: 413,
    title: 'More bytes than may be stored or uploaded',
    cause:
      "Either the tenant's artifacts, with what is announced for upload, would come to more than its quota; or, with a publishable key, this address " +
      'has uploaded as much as it may in a day. The message says which.',
    remedy:
      'For the quota, delete artifacts or ask those who run this installation for more. For the day, wait until Retry-After, or upload from your ' +
      'server with the secret key.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    cause: 'The RateLimit and RateLimit-Policy headers say which limit was reached.',
    remedy: 'Wait for Retry-After seconds; spread calls out and retry with a growing, jittered delay.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    cause: 'All headers together may take 16 KiB.',
    remedy: 'Send smaller headers.',
  },
  internal_error: {
    status: 500,
    title: 'Something broke on our side',
    cause: 'A fault that the server did not expect. It was logged under the request id.',
    remedy: 'Retry with the same Idempotency-Key. If it stays, report error.request_id.',
  },
  unavailable: {
    status: 503,
    title: 'Not available right now',
    cause:
      'A part that this operation needs cannot be reached, has too much to do, or is not configured; or another request held what this one changes for too long. Nothing was changed, unless error.reason is outcome_unknown: then the database did not tell in time whether the request took effect.',
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

/** One thing wrong with a request: where (a JSON Pointer into the body, or the header's or parameter's name) and what. */
export interface ErrorDetail {
  path: string
  message: string
  /** With already_spent, when a recovery_key was sent: the wallet code sealed to it, a compact JWE. */
  sealed?: string
  /** With price_changed: what the agent costs now, in whole credits. */
  price_credits?: number
  /** With price_changed: the most that was agreed to, in whole credits. */
  agreed_price_credits?: number
}

/** The body of every error answer. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; request_id?: string; reason?: string; details?: ErrorDetail[] }
}
