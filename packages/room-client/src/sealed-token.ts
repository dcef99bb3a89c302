import { isJsonObject, type JsonObject, parseJsonObject } from '@atrium/contract/strict-json'
import { parseEmail } from '@atrium/identity/email'
import { isForRs256, isStrongRsa, isTypedAsJwt, MAX_KEYS, MAX_TOKEN_LENGTH } from '@atrium/identity/rs256-form'
import { checkTokenClaims, type TokenClaims, type TokenClaimsProblem } from '@atrium/identity/token-claims'
import { decodeBase64url, isBase64url } from '@atrium/sealing/base64url'

/** A public key of an identity provider (RFC 7518, 6.3), with these members only. */
export interface ProviderKey {
  readonly kty: 'RSA'
  readonly kid?: string
  readonly n: string
  readonly e: string
}

/** Why an ID token is rejected, as in rooms of the other kind. */
export type TokenProblem = 'bad_signature' | 'unverified_email' | TokenClaimsProblem

export interface TokenCheck {
  readonly issuer: string
  /** The client id of the Space app. */
  readonly audience: string
  readonly nowMs: number
  readonly keys: readonly ProviderKey[]
}

export interface VerifiedToken extends TokenClaims {
  /** In comparison form. */
  readonly email: string
  /** The key that has signed it. */
  readonly signedBy: ProviderKey
}

/** The service refuses a device whose clock is further behind. */
export const MAX_SLOW_MS = 300_000

/**
 * An ID token as a record has it, sealed now. Of a device whose clock is slow, `at` is the time at which the provider has issued
 * the token: no reader accepts a token from the future.
 */
export function tokenRecord(idToken: string, nowMs: number): { at: string; id_token: string } {
  const iat = readPart(idToken.split('.')[1])?.['iat']
  const slowMs = typeof iat === 'number' ? iat * 1_000 - nowMs : 0
  const atMs = slowMs > 0 && slowMs <= MAX_SLOW_MS ? nowMs + slowMs : nowMs
  return { at: new Date(atMs).toISOString(), id_token: idToken }
}

/** The keys of a JWK Set that may verify RS256. Of keys with the same kid, the first counts. */
export function readProviderKeys(jwkSet: unknown): ProviderKey[] {
  const keys = new Map<string | undefined, ProviderKey>()
  const entries: unknown[] = isJsonObject(jwkSet) && Array.isArray(jwkSet['keys']) ? jwkSet['keys'] : []
  for (const jwk of entries.slice(0, MAX_KEYS)) {
    if (!isJsonObject(jwk) || !isForRs256(jwk) || keys.has(jwk.kid)) continue
    const { kid, n, e } = jwk
    if (isNumber(n) && isNumber(e)) keys.set(kid, { kty: 'RSA', ...(kid !== undefined && { kid }), n, e })
  }
  return [...keys.values()]
}

/** Whether these are keys with the members that a list has of them, and no others. */
export function areProviderKeys(value: unknown): value is readonly ProviderKey[] {
  const isForm = (key: unknown) => {
    const { kty, kid, n, e, ...rest } = isJsonObject(key) ? key : {}
    const isKid = kid === undefined || typeof kid === 'string'
    return kty === 'RSA' && isKid && isNumber(n) && isNumber(e) && Object.keys(rest).length === 0
  }
  return Array.isArray(value) && value.every(isForm)
}

function isNumber(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 2048 && isBase64url(value)
}

/** Whether a key, or several, are there that the token may have been signed with. */
export function hasKeyFor(token: string, keys: readonly ProviderKey[]): boolean {
  const header = readPart(token.split('.')[0])
  return findKey(keys, header?.['kid']) !== undefined
}

/**
 * Checks an ID token with Web Crypto. The order is that of `verifyIdToken` in `identity`, which the Space service uses:
 * malformed, bad_signature, malformed, bad_issuer, bad_aud, expired, not_yet_valid, unverified_email.
 */
export async function checkIdToken(token: string, expected: TokenCheck): Promise<VerifiedToken | TokenProblem> {
  const [head, payload, signature, ...more] = token.split('.', 4)
  const header = readPart(head)
  if (token.length > MAX_TOKEN_LENGTH || !payload || signature === undefined || more.length > 0 || !header) return 'malformed'
  const { typ, kid, alg } = header
  if ('crit' in header || 'b64' in header || !isTypedAsJwt(typ) || !['string', 'undefined'].includes(typeof kid))
    return 'malformed'
  const signedBy = alg === 'RS256' ? findKey(expected.keys, kid) : undefined
  if (!signedBy || !(await isRs256(signedBy, `${head}.${payload}`, signature))) return 'bad_signature'
  const claims = readPart(payload)
  const checked = claims ? checkTokenClaims(claims, expected) : 'malformed'
  if (typeof checked === 'string') return checked
  const email = parseEmail(claims?.['email'])
  if (email === undefined || claims?.['email_verified'] !== true) return 'unverified_email'
  return { ...checked, email, signedBy }
}

/** A token that names no key is by the only one, if there is only one. */
function findKey(keys: readonly ProviderKey[], kid: unknown): ProviderKey | undefined {
  if (kid === undefined) return keys.length === 1 ? keys[0] : undefined
  return keys.find((key) => key.kid === kid)
}

export function readPart(part: string | undefined): JsonObject | undefined {
  return part && isBase64url(part) ? parseJsonObject(decodeBase64url(part)) : undefined
}

const rs256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

async function isRs256({ kty, n, e }: ProviderKey, text: string, signature: string): Promise<boolean> {
  if (!isBase64url(signature)) return false
  const [modulus, exponent] = [decodeBase64url(n), decodeBase64url(e)]
  const bits = modulus.length * 8 + 24 - Math.clz32(modulus[0] ?? 0)
  if (modulus[0] === 0 || exponent.length > 8 || !isStrongRsa(bits, toBigInt(exponent))) return false
  try {
    const key = await crypto.subtle.importKey('jwk', { kty, n, e }, rs256, false, ['verify'])
    return await crypto.subtle.verify(rs256, key, decodeBase64url(signature), new TextEncoder().encode(text))
  } catch {
    return false
  }
}

function toBigInt(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
}
