import type { JsonObject } from './strict-json.ts'

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

const CLOCK_SKEW_SECONDS = 60
/** A token proves who sat at the device when it was made; providers let it live for days, we ask for the same day. */
const MAX_AGE_SECONDS = 12 * 3600

/** Judges claims whose signature already holds, in the order of `TokenClaimsProblem`; gives the first that fails. */
export function checkTokenClaims(
  claims: JsonObject,
  { issuer, audience, nowMs }: ExpectedClaims,
): TokenClaims | TokenClaimsProblem {
  if (!hasShape(claims)) return 'malformed'
  if (claims.iss !== issuer) return 'bad_issuer'
  if (!isFor(audience, claims)) return 'bad_aud'
  const timeProblem = checkTimes(claims, nowMs / 1000)
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

function checkTimes({ exp, iat, nbf = iat }: ClaimsShape, now: number): 'expired' | 'not_yet_valid' | undefined {
  if (now >= exp + CLOCK_SKEW_SECONDS || now > iat + MAX_AGE_SECONDS + CLOCK_SKEW_SECONDS) return 'expired'
  return Math.max(iat, nbf) > now + CLOCK_SKEW_SECONDS ? 'not_yet_valid' : undefined
}
