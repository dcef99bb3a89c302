import { fetchJwkSet, type FetchJson } from '@atrium/identity/discovery'
import { parseEmail } from '@atrium/identity/email'
import { wait } from './retry.ts'
import { checkIdToken, hasKeyFor, MAX_SLOW_MS, type ProviderKey, readProviderKeys, type TokenProblem } from './sealed-token.ts'

/** The identity provider whose ID tokens a reader believes. */
export interface IdentityProvider {
  readonly issuer: string
  /** The client that the tokens are for. */
  readonly clientId: string
}

/** Keys of the provider that the owner has seen, and has sealed in a list, for the time when it publishes others. */
export interface SealedIssuer {
  readonly issuer: string
  readonly keys: readonly ProviderKey[]
}

/** The ID token that a device has sealed into the room. */
export interface SealedToken {
  readonly token: string
  /** When the device says that it did. */
  readonly at: string
}

/**
 * What is known of a device. Its `reason` is the first check that fails, as in rooms of the other kind: unsigned (it has
 * sealed no token), a problem of the token, nonce_mismatch (the token is for another key), not_on_list (the token is of
 * another address than the one that the owner had invited; a name in its place is not compared), revoked. `unchecked`: there was no key to check with.
 */
export type Standing =
  | {
      readonly ok: true
      readonly email: string
      readonly issuer: string
      readonly sub: string
      /** When the provider had issued the token, RFC 3339. */
      readonly issuedAt: string
      /** Whose word the key of the provider is: its own, read now, or that of the owner, who had read it. */
      readonly keyFrom: 'issuer' | 'owner'
    }
  | {
      readonly ok: false
      readonly reason: 'unsigned' | 'unchecked' | `token: ${TokenProblem}` | 'nonce_mismatch' | 'not_on_list' | 'revoked'
      /** Of a verified token. */
      readonly email?: string
    }

export interface JudgedDevice {
  /** Thumbprint. */
  readonly key: string
  readonly token: SealedToken | undefined
  /** Whom the owner had invited; undefined: it is the owner. */
  readonly invitedAs: string | undefined
  readonly isRevoked: boolean
}

const REFETCH_MS = 30_000
/** Messages wait for the judgement of their author: not for as long as a provider that cannot be reached takes to fail. */
const MAX_WAIT_MS = 5_000
/** The keys that an owner seals. Providers have two to four at a time. */
const MAX_SEALED_KEYS = 8

/** Checks the ID tokens of a room. It asks the provider for its keys at most twice a minute. */
export class TokenJudge {
  readonly #provider: IdentityProvider | undefined
  readonly #fetchJson: FetchJson
  readonly #nowMs: () => number
  #keys: ProviderKey[] = []
  #fetchedAtMs = -Infinity
  #fetching: Promise<void> | undefined
  /** Of tokens that the provider's own keys have verified. */
  readonly #used = new Map<string, ProviderKey>()

  constructor(
    provider: IdentityProvider | undefined,
    { fetchJson, nowMs = Date.now }: { fetchJson: FetchJson; nowMs?: (() => number) | undefined },
  ) {
    this.#provider = provider
    this.#fetchJson = fetchJson
    this.#nowMs = nowMs
  }

  /** `readerMs`: the clock of the reader. */
  async judge(
    { key, token, invitedAs, isRevoked }: JudgedDevice,
    sealed: readonly SealedIssuer[],
    readerMs = this.#nowMs(),
  ): Promise<Standing> {
    if (!token) return { ok: false, reason: 'unsigned' }
    if (!this.#provider) return { ok: false, reason: 'unchecked' }
    const { issuer } = this.#provider
    const ownersKeys = sealed.filter((one) => one.issuer === issuer).flatMap(({ keys }) => keys)
    const current = await this.#keysFor(token.token)
    const fromIssuer = hasKeyFor(token.token, current)
    const keys = fromIssuer ? current : ownersKeys
    // Without the provider's keys, nothing can be said about a token that the owner's keys are not for.
    if (!hasKeyFor(token.token, keys) && current.length === 0 && isReadable(token.token))
      return { ok: false, reason: 'unchecked' }
    // The clock of the reader may be slow, too.
    const nowMs = Math.min(Date.parse(token.at), readerMs + MAX_SLOW_MS)
    const claims = await checkIdToken(token.token, { issuer, audience: this.#provider.clientId, nowMs, keys })
    if (typeof claims === 'string') return { ok: false, reason: `token: ${claims}` }
    if (claims.nonce !== key) return { ok: false, reason: 'nonce_mismatch' }
    const { email, sub, iat, signedBy } = claims
    if (fromIssuer) this.#used.set(JSON.stringify(signedBy), signedBy)
    if (isRevoked) return { ok: false, reason: 'revoked', email }
    const invited = parseEmail(invitedAs)
    if (invited !== undefined && invited !== email) return { ok: false, reason: 'not_on_list', email }
    const issuedAt = new Date(iat * 1000).toISOString()
    return { ok: true, email, issuer, sub, issuedAt, keyFrom: fromIssuer ? 'issuer' : 'owner' }
  }

  /** What the owner seals in its next list: the keys that the list before has, and those that have verified tokens since. */
  keysToSeal(sealed: readonly SealedIssuer[]): SealedIssuer[] {
    if (!this.#provider) return [...sealed]
    const { issuer } = this.#provider
    const others = sealed.filter((one) => one.issuer !== issuer)
    const before = sealed.filter((one) => one.issuer === issuer).flatMap(({ keys }) => keys)
    const known = new Map([...before.map((key) => [JSON.stringify(key), key] as const), ...this.#used])
    return known.size === 0 ? others : [...others, { issuer, keys: [...known.values()].slice(-MAX_SEALED_KEYS) }]
  }

  /** The provider's keys now. Who asks in the first seconds of a request waits for its answer. */
  async #keysFor(token: string): Promise<ProviderKey[]> {
    // A clock that was set back shows a time before the last fetch.
    const isDue = Math.abs(this.#nowMs() - this.#fetchedAtMs) >= REFETCH_MS
    if (isDue && !hasKeyFor(token, this.#keys)) {
      this.#fetchedAtMs = this.#nowMs()
      const ended = new AbortController()
      const fetching = this.#fetchKeys().finally(() => ended.abort())
      this.#fetching = Promise.race([fetching, wait(MAX_WAIT_MS, ended.signal).catch(() => undefined)])
    }
    await this.#fetching
    return this.#keys
  }

  async #fetchKeys(): Promise<void> {
    if (!this.#provider) return
    try {
      this.#keys = readProviderKeys(await fetchJwkSet(this.#provider.issuer, this.#fetchJson))
    } catch {
      // The keys that the owner has sealed may do; without them, the answer is `unchecked`.
    }
  }
}

/** Whether a key could say something about it. */
function isReadable(token: string): boolean {
  return token.split('.').length === 3
}
