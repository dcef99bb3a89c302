import { isJsonObject } from '@atrium/contract/strict-json'
import { decodeBase64url, encodeBase64url } from '@atrium/sealing/base64url'
import type { IdentityConfig } from '../config.ts'
import { keepAccount } from './account.ts'
import { deviceKey } from './device-key.ts'
import { keepRoomToken } from './room-token.ts'
import { t } from '../text/text.ts'

/** State kept in the tab's session storage while the visitor is at the identity provider. */
interface Pending {
  readonly verifier: string
  readonly nonce: string
  /** The room's link with its key. It is not sent anywhere, and is restored on return. */
  readonly fragment: string
  /** The token is for one room with a list, and no account of this tab. */
  readonly room?: string
}

const KEY = 'atrium.space.sign-in.'
const CLOCK_SKEW_MS = 60_000
/** The page shows nothing else while it waits. A browser would wait for minutes. */
const TIMEOUT_MS = 10_000

/** No answer came that the page may read, or one of a provider that is in trouble: the same may succeed a little later. */
class UnreachableError extends Error {}

/**
 * Redirects to the identity provider: OpenID Connect, authorization code with PKCE. The nonce binds the token to this
 * device's key, or to its key in one room with a list.
 */
export async function beginSignIn(identity: IdentityConfig, inRoom?: { room: string; nonce: string }): Promise<void> {
  const [{ thumbprint }, endpoints] = await Promise.all([deviceKey('account'), discover(identity.issuer)])
  const [state, verifier] = [randomText(), randomText()]
  const nonce = inRoom?.nonce ?? thumbprint
  const pending: Pending = { verifier, nonce, fragment: location.hash, ...(inRoom && { room: inRoom.room }) }
  sessionStorage.setItem(KEY + state, JSON.stringify(pending))
  const url = new URL(endpoints.authorization)
  const query = {
    response_type: 'code',
    client_id: identity.client_id,
    redirect_uri: redirectUri(),
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: encodeBase64url(await sha256(verifier)),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  location.assign(url)
}

/** Whether the identity provider redirected to this page. */
export function isReturn(): boolean {
  const query = new URLSearchParams(location.search)
  return query.has('state') && (query.has('code') || query.has('error'))
}

/** Restores the room's link in the address bar and redeems the code. Resolves to an error message, or undefined. */
export async function finishSignIn(identity: IdentityConfig | null): Promise<string | undefined> {
  const query = new URLSearchParams(location.search)
  const pending = takePending(query.get('state') ?? '')
  // This comes first, so that no code stays in the history and a reload does not redeem it again.
  history.replaceState(null, '', `/space${pending?.fragment ?? location.hash}`)
  if (!pending || !identity) return t.signIn.notBegun
  const code = query.get('code')
  if (!code) return query.get('error') === 'access_denied' ? t.signIn.declined : t.signIn.refused
  if (query.has('iss') && query.get('iss') !== identity.issuer) return t.signIn.otherProvider
  try {
    const idToken = await redeem(identity, code, pending.verifier)
    const account = readAccount(idToken, identity, pending.nonce)
    if (pending.room === undefined) keepAccount(account)
    else keepRoomToken(pending.room, account)
    return undefined
  } catch (error) {
    return error instanceof UnreachableError ? t.signIn.unreachable : t.signIn.unusable
  }
}

function takePending(state: string): Pending | undefined {
  const text = sessionStorage.getItem(KEY + state)
  sessionStorage.removeItem(KEY + state)
  return text ? (JSON.parse(text) as Pending) : undefined
}

async function redeem(identity: IdentityConfig, code: string, verifier: string): Promise<string> {
  const { token } = await discover(identity.issuer)
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(),
    client_id: identity.client_id,
    code_verifier: verifier,
  }
  const answer = await fetchJson(token, { method: 'POST', body: new URLSearchParams(form), cache: 'no-store' })
  if (!isJsonObject(answer) || typeof answer['id_token'] !== 'string') throw new Error('no id_token')
  return answer['id_token']
}

async function fetchJson(url: string, init: RequestInit = {}): Promise<unknown> {
  let res: Response
  let text: string
  try {
    res = await fetch(url, { ...init, credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) })
    text = await res.text()
  } catch {
    throw new UnreachableError()
  }
  if (res.status >= 500) throw new UnreachableError()
  if (!res.ok) throw new Error(`status ${res.status}`)
  return JSON.parse(text)
}

interface Claims {
  readonly iss: string
  readonly aud: string | readonly string[]
  readonly nonce: string
  readonly exp: number
  readonly email?: string
  readonly name?: string
}

/**
 * Reads the token without verifying it, because it came directly from the provider. The Space service verifies it;
 * reading it here saves a round trip.
 */
function readAccount(idToken: string, { issuer, client_id }: IdentityConfig, nonce: string) {
  const claims = JSON.parse(new TextDecoder().decode(decodeBase64url(idToken.split('.')[1] ?? ''))) as Claims
  if (claims.iss !== issuer || ![claims.aud].flat().includes(client_id)) throw new Error('for someone else')
  if (claims.nonce !== nonce || claims.exp * 1000 < Date.now() - CLOCK_SKEW_MS) throw new Error('for another sign-in')
  return { idToken, email: claims.email ?? '', name: claims.name, expiresAtMs: claims.exp * 1000 }
}

async function discover(issuer: string): Promise<{ authorization: string; token: string }> {
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (!isJsonObject(found) || found['issuer'] !== issuer) throw new Error('not this issuer')
  return { authorization: endpoint(found['authorization_endpoint']), token: endpoint(found['token_endpoint']) }
}

/** Only over https, or on this machine. */
function endpoint(value: unknown): string {
  const url = new URL(String(value))
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) throw new Error('not a safe endpoint')
  return url.href
}

function redirectUri(): string {
  return `${location.origin}/space`
}

function randomText(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}
