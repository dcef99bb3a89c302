import { createHash, randomBytes } from 'node:crypto'

/** The grant that a code represents. */
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

/** What a client presents to redeem a code. */
export interface Redemption {
  code: string
  clientId: string
  redirectUri: string
  verifier: string
}

const lifetimeMs = 60_000
const maxCodes = 1_000

/**
 * Authorization codes that were issued and not yet redeemed. A code is valid once, for a minute, for the client and
 * redirect address that it was issued for.
 */
export class AuthorizationCodes {
  readonly #now: () => number
  readonly #grants = new Map<string, { grant: CodeGrant; expiresAtMs: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  issue(grant: CodeGrant): string {
    // The oldest code is dropped, so that memory stays bounded if many people sign in without redeeming.
    const [oldest] = this.#grants.keys()
    if (this.#grants.size >= maxCodes && oldest !== undefined) this.#grants.delete(oldest)
    const code = randomBytes(32).toString('base64url')
    this.#grants.set(code, { grant, expiresAtMs: this.#now() + lifetimeMs })
    return code
  }

  redeem({ code, clientId, redirectUri, verifier }: Redemption): CodeGrant | undefined {
    const found = this.#grants.get(code)
    // The first attempt spends the code, even with a wrong verifier, so that there is no second guess.
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
