import { parseEmail } from './email.ts'
import type { JsonObject } from './strict-json.ts'

/** What a verified token says. `email` is in comparison form (see parseEmail); times are seconds, as in the token. */
export interface IdTokenClaims {
  readonly iss: string
  readonly sub: string
  readonly nonce: string
  readonly exp: number
  readonly iat: number
  readonly email: string
  readonly name?: string
}

export type ClaimsProblem = 'malformed' | 'bad_issuer' | 'bad_aud' | 'expired' | 'not_yet_valid' | 'unverified_email'

export type ClaimsVerdict =
  | { readonly ok: true; readonly claims: IdTokenClaims }
  | { readonly ok: false; readonly reason: ClaimsProblem }

export interface ExpectedClaims {
  readonly issuer: string
  readonly audience: string
  readonly nowMs: number
}

const CLOCK_SKEW_SECONDS = 60
/** A token proves who sat at the device when it was made; providers let it live for days, we ask for the same day. */
const MAX_AGE_SECONDS = 12 * 3600

/** Judges claims whose signature already holds, in the order of `ClaimsProblem`; the first that fails is the reason. */
export function checkClaims(claims: JsonObject, { issuer, audience, nowMs }: ExpectedClaims): ClaimsVerdict {
  if (!hasShape(claims)) return refused('malformed')
  if (claims.iss !== issuer) return refused('bad_issuer')
  if (!isFor(audience, claims)) return refused('bad_aud')
  const timeProblem = checkTimes(claims, nowMs / 1000)
  if (timeProblem) return refused(timeProblem)
  const email = parseEmail(claims.email)
  // Exactly true: the string "false" is truthy, and an address that nobody checked is anybody's.
  if (email === undefined || claims.email_verified !== true) return refused('unverified_email')
  const { sub, nonce, exp, iat, name } = claims
  return { ok: true, claims: { iss: issuer, sub, nonce, exp, iat, email, ...(isFilled(name) && { name }) } }
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

function refused(reason: ClaimsProblem): ClaimsVerdict {
  return { ok: false, reason }
}
