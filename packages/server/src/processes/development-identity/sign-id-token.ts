import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, type JWTPayload, SignJWT } from '#libraries/jose.js'
import type { CodeGrant } from './authorization-codes.ts'

const lifetimeSeconds = 3600

export interface IdTokenSigner {
  /** The key set that clients verify with. */
  jwks: { keys: object[] }
  sign(grant: CodeGrant, nowMs: number): Promise<string>
}

/** Makes ID tokens: compact JWS, RS256. The `kid` is the thumbprint of the key (RFC 7638). */
export async function openIdTokenSigner(issuer: string, signingKey: KeyObject): Promise<IdTokenSigner> {
  const jwk = await exportJWK(createPublicKey(signingKey))
  const kid = await calculateJwkThumbprint(jwk)
  const { kty, n, e } = jwk
  const header = { alg: 'RS256', typ: 'JWT', kid }
  return {
    jwks: { keys: [{ kty, use: 'sig', alg: 'RS256', kid, n, e }] },
    sign: (grant, nowMs) =>
      new SignJWT(claimsOf(issuer, grant, Math.floor(nowMs / 1000))).setProtectedHeader(header).sign(signingKey),
  }
}

/**
 * Only the claims of the requested scopes (OpenID Connect Core §5.4), so that a client which forgets a scope notices
 * it here.
 */
function claimsOf(iss: string, { clientId, nonce, email, name, scopes }: CodeGrant, iat: number): JWTPayload {
  return {
    iss,
    // One subject per e-mail address, the same after a restart.
    sub: createHash('sha256').update(email).digest('base64url'),
    aud: clientId,
    iat,
    auth_time: iat,
    exp: iat + lifetimeSeconds,
    nonce,
    ...(scopes.includes('email') && { email, email_verified: true }),
    ...(scopes.includes('profile') && name !== undefined && { name }),
  }
}
