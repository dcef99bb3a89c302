import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { CodeGrant } from './authorization-codes.ts'

const lifetimeSeconds = 3600

export interface IdTokenSigner {
  /** The key set that clients verify with. */
  jwks: { keys: object[] }
  sign(grant: CodeGrant, nowMs: number): string
}

/** Makes ID tokens: compact JWS, RS256, the `kid` being the key's thumbprint (RFC 7638). */
export function openIdTokenSigner(issuer: string, signingKey: KeyObject): IdTokenSigner {
  const { e, n } = createPublicKey(signingKey).export({ format: 'jwk' })
  const kid = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
  const header = { alg: 'RS256', typ: 'JWT', kid }
  return {
    jwks: { keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid, n, e }] },
    sign: (grant, nowMs) => {
      const text = `${encode(header)}.${encode(claimsOf(issuer, grant, Math.floor(nowMs / 1000)))}`
      return `${text}.${sign('sha256', Buffer.from(text), signingKey).toString('base64url')}`
    },
  }
}

/** What the scopes asked for, as OpenID Connect Core §5.4 has it: a client that forgets one finds out here. */
function claimsOf(iss: string, { clientId, nonce, email, name, scopes }: CodeGrant, iat: number): object {
  return {
    iss,
    // One person an address, the same after a restart.
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

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
