import { createHash, randomBytes } from 'node:crypto'

/** What a code stands for. */
export interface CodeGrant {
  clientId: string
  redirectUri: string
  /** S256 (RFC 7636 §4.2). */
  challenge: string
  nonce: string
  scopes: string[]
  email: string
  name: string | undefined
}

/** What who redeems a code brings along. */
export interface Redemption {
  code: string
  clientId: string
  redirectUri: string
  verifier: string
}

const lifetimeMs = 60_000
const maxCodes = 1_000

/** Authorization codes that were given out and not yet redeemed: once, within a minute, by whom they were made for. */
export class AuthorizationCodes {
  readonly #now: () => number
  readonly #grants = new Map<string, { grant: CodeGrant; expiresAtMs: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  issue(grant: CodeGrant): string {
    // The oldest goes first, so memory stays bounded however many sign in and never come back.
    const [oldest] = this.#grants.keys()
    if (this.#grants.size >= maxCodes && oldest !== undefined) this.#grants.delete(oldest)
    const code = randomBytes(32).toString('base64url')
    this.#grants.set(code, { grant, expiresAtMs: this.#now() + lifetimeMs })
    return code
  }

  redeem({ code, clientId, redirectUri, verifier }: Redemption): CodeGrant | undefined {
    const found = this.#grants.get(code)
    // Spent by the first who shows it, also with the wrong verifier: nobody gets a second guess.
    this.#grants.delete(code)
    if (!found || this.#now() >= found.expiresAtMs) return undefined
    const { grant } = found
    const isBound = grant.clientId === clientId && grant.redirectUri === redirectUri && grant.challenge === challengeOf(verifier)
    return isBound ? grant : undefined
  }
}

/** RFC 7636 §4.1: 43 to 128 unreserved characters; anything else is no verifier and matches no challenge. */
function challengeOf(verifier: string): string | undefined {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return undefined
  return createHash('sha256').update(verifier).digest('base64url')
}
