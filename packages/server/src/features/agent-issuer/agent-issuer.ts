import { AGENT_TOKEN_LIFETIME, AGENT_TOKEN_TYPE } from '@atrium/identity/agent-token'
import { parseDeviceKey } from '@atrium/identity/device-key'
import { SignJWT } from 'jose'
import type { PlatformKeys } from './platform-keys.ts'

/** Proves agents: signs ID tokens that the Space service takes for agents, and for nobody else. */
export interface AgentIssuer {
  /**
   * A token that says which agent holds the device key `spk`. It ends after 45 seconds, or at `notAfter` if that comes first: nobody can take
   * it back, and it must not outlive its session by more than a minute.
   */
  issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string>
  /** For when a token was refused as too old or too new: tokens are made by the clock of whoever verifies them. A `Date` header (RFC 9110). */
  followClock(date: string | null): void
}

interface PlatformIssuerOptions {
  /** The API's origin. */
  issuer: string
  /** The Space service's origin: a token that one service was shown opens nothing at another. */
  audience: string
  keys: PlatformKeys
}

const lifeMs = AGENT_TOKEN_LIFETIME.maxAgeSeconds * 1_000
/** Nobody who answers with a wrong date is given a token for a far future. */
const maxAheadMs = 10 * 60_000
const maxNameLength = 200

/** The platform's own issuer (RS256). */
export class PlatformIssuer implements AgentIssuer {
  readonly issuer: string
  readonly keys: PlatformKeys
  readonly #audience: string
  #aheadMs = 0

  constructor({ issuer, audience, keys }: PlatformIssuerOptions) {
    this.issuer = issuer
    this.keys = keys
    this.#audience = audience
  }

  followClock(date: string | null): void {
    const aheadMs = Date.parse(date ?? '') - Date.now()
    if (Math.abs(aheadMs) <= maxAheadMs) this.#aheadMs = aheadMs
  }

  async issue(
    agent: { id: string; name: string },
    spk: { kty: string; crv: string; x: string; y: string },
    notAfter?: Date,
  ): Promise<string> {
    const device = parseDeviceKey(spk)
    if (!device) throw new Error('a token was asked for a key that is no public EC P-256 key')
    const { kid, privateKey } = await this.keys.current()
    const nowMs = Date.now() + this.#aheadMs
    const endsMs = Math.min(nowMs + lifeMs, (notAfter?.getTime() ?? Infinity) + this.#aheadMs)
    // By its type, too, nobody can take it for a person's token, whoever issues those.
    return new SignJWT({ name: [...agent.name].slice(0, maxNameLength).join(''), nonce: device.thumbprint })
      .setProtectedHeader({ alg: 'RS256', typ: AGENT_TOKEN_TYPE, kid })
      .setIssuer(this.issuer)
      .setAudience(this.#audience)
      .setSubject(agent.id)
      .setIssuedAt(Math.floor(nowMs / 1_000))
      .setExpirationTime(Math.floor(endsMs / 1_000))
      .sign(privateKey)
  }
}
