import { isJsonObject, type JsonObject } from '@atrium/contract/strict-json'
import { isIssuer } from '@atrium/identity/discovery'
import { verifyIdToken } from '@atrium/identity/id-token'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import type { Config } from '#config/config.ts'
import { messageOf } from '#errors/caught.ts'
import { fetchJson } from './fetch-json.ts'

/** A person who has proved to be the holder of an account. */
export interface ConsoleAccount {
  issuer: string
  subject: string
  /** Verified by the provider, in comparison form. */
  email: string
  name: string | undefined
}

interface Request {
  redirectUri: string
  state: string
  nonce: string
  /** S256 (RFC 7636, 4.2). */
  challenge: string
}

interface Redemption {
  code: string
  redirectUri: string
  verifier: string
  nonce: string
}

/** The identity provider of the console (OpenID Connect Core, authorization code with PKCE). */
export interface ConsoleIdentity {
  readonly issuer: string
  /** The development sign-in, which checks nothing: for people on this machine only. */
  readonly isDevelopment: boolean
  /** Where the browser signs in. Throws SignInFailedError if the provider cannot be reached. */
  authorizationUrl(request: Request): Promise<string>
  /** Exchanges the code and verifies the ID token. Throws SignInFailedError. */
  redeem(redemption: Redemption): Promise<ConsoleAccount>
}

/** The person was not signed in. The message is for the log. */
export class SignInFailedError extends Error {
  override name = 'SignInFailedError'
}

export function openConsoleIdentity(
  { issuer, clientId, clientSecret }: NonNullable<Config['consoleOidc']>,
  isDevelopment: boolean,
): ConsoleIdentity {
  const keys = new ProviderKeys({ issuer, fetchJson })
  const discover = async () => {
    const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`).catch(fail)
    // OpenID Discovery, 4.3: one provider must not speak for another.
    if (!isJsonObject(document) || document.issuer !== issuer) throw new SignInFailedError('discovery is of another issuer')
    return document
  }
  const redeemCode = async ({ code, redirectUri, verifier }: Redemption) => {
    const document = await discover()
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    const { body, headers } = authenticate(document, clientId, clientSecret)
    return fetchJson(endpoint(document, 'token_endpoint'), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ ...form, ...body }),
    }).catch(fail)
  }
  return {
    issuer,
    isDevelopment,
    authorizationUrl: async ({ redirectUri, state, nonce, challenge }) => {
      const url = new URL(endpoint(await discover(), 'authorization_endpoint'))
      const params = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
      return url.href
    },
    redeem: async (redemption) => {
      const answer = await redeemCode(redemption)
      const token = isJsonObject(answer) ? answer.id_token : undefined
      const verdict = await verifyIdToken(token, { keys, issuer, audience: clientId, nowMs: Date.now() }).catch(fail)
      if (!verdict.ok) throw new SignInFailedError(`the ID token is refused: ${verdict.reason}`)
      const { sub: subject, email, name, nonce } = verdict.claims
      if (nonce !== redemption.nonce) throw new SignInFailedError('the ID token is of another sign-in')
      return { issuer, subject, email, name: name?.slice(0, 120) }
    },
  }
}

function fail(error: unknown): never {
  throw new SignInFailedError(messageOf(error))
}

/** An address of the discovery document, which must be as protected as an issuer. */
function endpoint(document: JsonObject, name: string): string {
  const url = document[name]
  if (typeof url === 'string' && URL.canParse(url) && isIssuer(url.split('?')[0] ?? '')) return url
  throw new SignInFailedError(`discovery gives no safe ${name}`)
}

/** RFC 6749, 2.3.1: Basic unless the provider takes the secret in the form only. A public client sends its id. */
function authenticate(document: JsonObject, clientId: string, secret: string | undefined) {
  const methods = document['token_endpoint_auth_methods_supported']
  if (secret === undefined) return { body: { client_id: clientId }, headers: {} }
  if (Array.isArray(methods) && !methods.includes('client_secret_basic'))
    return { body: { client_id: clientId, client_secret: secret }, headers: {} }
  const pair = [clientId, secret].map(encodeURIComponent).join(':')
  return { body: {}, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}
