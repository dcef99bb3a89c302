import type { JsonObject } from '@atrium/contract/strict-json'

/** What every verified token says, a person's or an agent's. Times are seconds, as in the token. */
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

/** How long a token counts, by the clock of whoever verifies it. */
export interface TokenLifetime {
  /** After `iat`, whatever `exp` says. */
  readonly maxAgeSeconds: number
  /** How much longer than it says, if this clock should be fast. */
  readonly lateSeconds: number
  /** How much sooner than it says, if this clock should be slow. */
  readonly earlySeconds: number
}

/** A person's: it proves who sat at the device when it was made. Providers let it live for days, we ask for the same day. */
export const PERSON_LIFETIME: TokenLifetime = { maxAgeSeconds: 12 * 3600 + 60, lateSeconds: 60, earlySeconds: 60 }

/** Until when a token that holds now still does. */
export function goodUntilMs({ exp, iat }: TokenClaims, { maxAgeSeconds, lateSeconds }: TokenLifetime): number {
  return 1000 * Math.min(exp + lateSeconds, iat + maxAgeSeconds)
}

/** Judges claims whose signature already holds, in the order of `TokenClaimsProblem`; gives the first that fails. */
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

/** Not Infinity, which is what JSON.parse makes of 1e400: it would never expire. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** Several audiences need `azp`, and wherever `azp` stands it must be us: the token was made for that party to use. */
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
