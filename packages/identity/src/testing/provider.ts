import { calculateJwkThumbprint, CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload } from 'jose'
import type { FetchJson } from '../discovery.ts'

/**
 * An OpenID provider for tests. Its tokens come from jose, so that the verifier is tested against another
 * implementation.
 */
export interface TestProvider {
  readonly issuer: string
  readonly publicJwk: JWK
  readonly privateKey: CryptoKey
  /** A token that is valid at `nowMs`, except for changes by `claims` and `header` (undefined removes a member). */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  /** Answers discovery and key set as the provider's web server would. */
  readonly fetchJson: FetchJson
}

export interface TestProviderOptions {
  readonly issuer?: string
  readonly audience?: string
  readonly kid?: string
  readonly now?: () => number
}

export async function createTestProvider({
  issuer = 'https://id.example',
  audience = 'atrium',
  kid = 'k1',
  now = Date.now,
}: TestProviderOptions = {}): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }
  return {
    issuer,
    publicJwk,
    privateKey,
    sign(claims, header = {}) {
      const payload = JSON.stringify({ ...goodClaims(issuer, audience, now()), ...claims })
      const protectedHeader = { alg: 'RS256', typ: 'JWT', kid, ...header }
      return new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader(protectedHeader).sign(privateKey)
    },
    async fetchJson(url) {
      if (url === `${issuer}/.well-known/openid-configuration`) return { issuer, jwks_uri: `${issuer}/jwks` }
      if (url === `${issuer}/jwks`) return { keys: [publicJwk] }
      throw new Error(`404 ${url}`)
    },
  }
}

function goodClaims(iss: string, aud: string, nowMs: number): JWTPayload {
  const iat = Math.floor(nowMs / 1000)
  const person = { sub: 'account-1', email: 'ann@example.com', email_verified: true, name: 'Ann' }
  return { iss, aud, iat, exp: iat + 3600, nonce: 'a-nonce', ...person }
}

/** A device key as the app makes it in the browser, and the nonce that binds a token to it. */
export async function createTestDevice(): Promise<{ privateKey: CryptoKey; spk: JWK; nonce: string }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const spk = await exportJWK(publicKey)
  return { privateKey, spk, nonce: await calculateJwkThumbprint(spk) }
}
