import type { JsonObject } from '@atrium/contract/strict-json'

/** The claims of every verified token, of a person or an agent. Times are in seconds, as in the token. */
export interface TokenClaims {
  readonly iss: string
  readonly sub: string
  readonly nonce: string
  readonly exp: number
  readonly iat: number
  readonly name?: string
}

export type TokenClaimsProblem = 'malformed' | 'bad_issuer' | 'bad_aud' | 'expired' | 'not_yet_valid'

export interface ExpectedClaims {
  readonly issuer: string
  readonly audience: string
  readonly nowMs: number
}

/** The lifetime of a token by the clock of the verifier. */
export interface TokenLifetime {
  /** The longest lifetime after `iat`, regardless of `exp`. */
  readonly maxAgeSeconds: number
  /** Tolerance after `exp`, for a clock that is ahead. */
  readonly lateSeconds: number
  /** Tolerance before `iat`, for a clock that is behind. */
  readonly earlySeconds: number
}

/**
 * The lifetime of a person's token, which proves who was at the device when it was issued. Providers let it live for
 * days; here it is limited to 12 hours.
 */
export const PERSON_LIFETIME: TokenLifetime = { maxAgeSeconds: 12 * 3600 + 60, lateSeconds: 60, earlySeconds: 60 }

/** The time at which a valid token expires. */
export function goodUntilMs({ exp, iat }: TokenClaims, { maxAgeSeconds, lateSeconds }: TokenLifetime): number {
  return 1000 * Math.min(exp + lateSeconds, iat + maxAgeSeconds)
}

/** Checks claims whose signature is verified, in the order of `TokenClaimsProblem`. Returns the first that fails. */
export function checkTokenClaims(
  claims: JsonObject,
  { issuer, audience, nowMs }: ExpectedClaims,
  lifetime: TokenLifetime = PERSON_LIFETIME,
): TokenClaims | TokenClaimsProblem {
  if (!hasShape(claims)) return 'malformed'
  if (claims.iss !== issuer) return 'bad_issuer'
  if (!isFor(audience, claims)) return 'bad_aud'
  const timeProblem = checkTimes(claims, nowMs / 1000, lifetime)
  if (timeProblem) return timeProblem
  const { sub, nonce, exp, iat, name } = claims
  return { iss: issuer, sub, nonce, exp, iat, ...(isFilled(name) && { name }) }
}

interface ClaimsShape extends JsonObject {
  readonly sub: string
  readonly nonce: string
  readonly exp: number
  readonly iat: number
  readonly nbf?: number
}

function hasShape(claims: JsonObject): claims is ClaimsShape {
  const { sub, nonce, exp, iat, nbf } = claims
  const isSubject = isFilled(sub) && sub.length <= 255 // OpenID Connect §2
  return isSubject && isFilled(nonce) && isTime(exp) && isTime(iat) && (nbf === undefined || isTime(nbf))
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Excludes Infinity, to which JSON.parse converts 1e400: such a token would never expire. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/**
 * Several audiences require `azp`. If `azp` is present it must be this client, because it names the party that may use
 * the token.
 */
function isFor(audience: string, { aud, azp }: JsonObject): boolean {
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud]
  const isSoleAudience = audiences.length === 1 && azp === undefined
  return audiences.includes(audience) && audiences.every(isFilled) && (isSoleAudience || azp === audience)
}

function checkTimes(
  { exp, iat, nbf = iat }: ClaimsShape,
  now: number,
  { maxAgeSeconds, lateSeconds, earlySeconds }: TokenLifetime,
): 'expired' | 'not_yet_valid' | undefined {
  if (now >= exp + lateSeconds || now > iat + maxAgeSeconds) return 'expired'
  return Math.max(iat, nbf) > now + earlySeconds ? 'not_yet_valid' : undefined
}
